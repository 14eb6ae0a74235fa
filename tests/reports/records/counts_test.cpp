#include "reports/records/counts.hpp"

#include <gtest/gtest.h>

namespace hilbench {
namespace {

using Counters = std::map<std::string, Counter>;

TEST(Counts, FurtherCountsAreKeptAndTheValueIsTheirMedian) {
  Counters total;
  for (const double value : {10.0, 30.0, 20.0})
    add_counts(total, {{"misses", {.value = value, .source = "perf"}}});
  EXPECT_EQ(total.at("misses").counts, (std::vector<double>{10, 30, 20}));
  EXPECT_EQ(total.at("misses").value, 20);
  add_counts(total, Counters(total));
  EXPECT_EQ(total.at("misses").counts.size(), 6u);
}

TEST(Counts, WhatIsExactOrWasNotReadEachTimeStays) {
  Counters total;
  add_counts(total, {{"pages", {.value = 4, .source = "layout"}}, {"misses", {.reason = "no such event"}}});
  add_counts(total, {{"pages", {.value = 4, .source = "layout"}}, {"misses", {.value = 3}}});
  EXPECT_TRUE(total.at("pages").counts.empty());
  EXPECT_FALSE(total.at("misses").value);
}

}  // namespace
}  // namespace hilbench
