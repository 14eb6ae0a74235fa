#include "reports/records/finish_statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace hilbench {
namespace {

TEST(FinishStatistics, GiveMediansIntervalsAndRates) {
  Record record;
  record.flops = 2e9;
  record.time = Timing{.samples_ns = {3e6, 1e6, 2e6, 4e6, 5e6, 6e6, 7e6}, .process_rounds = {7}};
  Record several = record, empty = record;
  several.time->process_rounds = {3, 4};
  empty.time = Timing{.median_ns = 5};
  several.energy = Energy{.samples_j = {3, 1, 2, 4, 5, 6, 7}, .source = "nvml"};
  record.energy = Energy{.reason = "no counter"};
  std::vector<Record> records = {record, several, empty};
  finish_statistics(records);
  EXPECT_EQ(records[0].time->median_ns, 4e6);
  EXPECT_EQ(records[0].time->ci_ns.low, 1e6);
  EXPECT_EQ(records[0].time->ci_ns.high, 7e6);
  EXPECT_DOUBLE_EQ(*records[0].tflops, 0.5);
  EXPECT_NEAR(records[1].time->median_ns, std::sqrt(2e6 * 5.5e6), 1e-3);
  EXPECT_NEAR(records[1].energy->median_j, std::sqrt(2 * 5.5), 1e-9) << "as of times";
  EXPECT_EQ(records[0].energy->median_j, 0);
  EXPECT_EQ(records[2].time->median_ns, 5) << "nothing is known but what the record says";
}

}  // namespace
}  // namespace hilbench
