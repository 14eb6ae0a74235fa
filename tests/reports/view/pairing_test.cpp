#include "reports/view/pairing.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

TEST(TimeRatio, TakesTheRecordsOwnSpeedupAndAddsThePermutation) {
  const ReportInput input = sample::input();
  const Record &linear = input.records[0], &hilbert = input.records[1];
  const auto kernel = time_ratio(linear, hilbert);
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->ratio, hilbert.speedup->ratio);
  const auto with_permutation = time_ratio(linear, hilbert, *hilbert.permute_ns);
  ASSERT_TRUE(with_permutation);
  EXPECT_NEAR(with_permutation->ratio,
              linear.time->median_ns / (hilbert.time->median_ns + *hilbert.permute_ns), 0.01);
  EXPECT_LE(with_permutation->ci.low, with_permutation->ratio);
  EXPECT_GE(with_permutation->ci.high, with_permutation->ratio);
}

TEST(TimeRatio, NeedsPairedRounds) {
  const ReportInput input = sample::input();
  const Record& linear = input.records[0];
  Record hilbert = input.records[1];
  hilbert.speedup.reset();
  EXPECT_TRUE(time_ratio(linear, hilbert));
  hilbert.time->samples_ns.pop_back();
  EXPECT_FALSE(time_ratio(linear, hilbert));
  hilbert.status = Status::failed;
  EXPECT_FALSE(time_ratio(linear, hilbert));
  Record broken = input.records[1];
  broken.speedup.reset();
  broken.time->process_rounds = {5};
  Record twin = linear;
  twin.time->process_rounds = {5};
  EXPECT_FALSE(time_ratio(twin, broken)) << "rounds that do not add up to the samples do not pair";
}

TEST(TimeRatio, IsWithheldWhereAnotherProcessUsedTheDevice) {
  ReportInput input = sample::input();
  (*input.records[1].environment)["device_state"] = {{"foreign_processes", 1}};
  EXPECT_FALSE(time_ratio(input.records[0], input.records[1]));
  EXPECT_FALSE(time_ratio(input.records[1], input.records[2]));
  EXPECT_TRUE(time_ratio(input.records[0], input.records[2]));
}

}  // namespace
}  // namespace hilbench
