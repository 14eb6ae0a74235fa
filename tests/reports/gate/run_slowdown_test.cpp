#include "reports/gate/run_slowdown.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace hilbench {
namespace {

// Each process has measured e^log ns, three times.
Record record_of(const std::vector<double>& logs) {
  Record record;
  record.time.emplace();
  for (const double log : logs) {
    record.time->samples_ns.insert(record.time->samples_ns.end(), 3, std::exp(log));
    record.time->process_rounds.push_back(3);
  }
  return record;
}

void expect_near(const std::vector<double>& values, const std::vector<double>& expected) {
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-12);
}

TEST(RunSlowdown, TheTwinMeasuresTheReferenceOnceMore) {
  const Record variant = record_of({5, 7}), reference = record_of({2.1, 3}), twin = record_of({1.9, 2});
  expect_near(log_times(variant), {5, 7});
  expect_near(log_times(reference, &twin), {2, 2.5});
  expect_near(log_ratios(variant, reference, nullptr), {2.9, 4});
  expect_near(log_ratios(variant, reference, &twin), {3, 4.5});
}

TEST(RunSlowdown, NothingIsDividedByFewerProcesses) {
  const Record variant = record_of({5, 7}), reference = record_of({2, 3}), shorter = record_of({4});
  EXPECT_TRUE(log_ratios(variant, shorter, nullptr).empty());
  EXPECT_TRUE(log_ratios(variant, reference, &shorter).empty());
}

// What slows a round slows both in it: the ratios are 1, 1 and 9, although the medians differ by 2.
TEST(RunSlowdown, RatiosAreTakenWithinRounds) {
  Record variant = record_of({0}), reference = record_of({0});
  variant.time->samples_ns = {std::exp(2), std::exp(3), std::exp(9)};
  reference.time->samples_ns = {std::exp(1), std::exp(2), std::exp(0)};
  expect_near(log_ratios(variant, reference, nullptr), {1});
  expect_near(log_times(variant, &reference), {2.5});
}

TEST(RunSlowdown, RoundsThatDoNotPairGiveTheRatioOfTheMedians) {
  Record variant = record_of({5, 7});
  const Record reference = record_of({2, 3});
  variant.time->samples_ns = {std::exp(5), std::exp(4), std::exp(9), std::exp(5), std::exp(7)};
  variant.time->process_rounds = {4, 1};
  expect_near(log_ratios(variant, reference, nullptr), {3, 4});
}

}  // namespace
}  // namespace hilbench
