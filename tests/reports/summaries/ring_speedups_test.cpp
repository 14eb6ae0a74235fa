#include "reports/summaries/ring_speedups.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/reports/sample_records.hpp"
#include "tests/reports/table_cell.hpp"

namespace hilbench {
namespace {

Case ring_of(std::int64_t ranks) {
  Case work = sample::work(8192, {{8192, 4}});
  work.ring_size = ranks;
  work.device = DeviceKind::cuda;
  return work;
}

void add_ring(ReportInput& input, std::int64_t ranks, RingAlgorithm algorithm, double factor) {
  Record made = sample::record(ring_of(ranks), "dilated", "linear");
  made.variant.ring.algorithm = algorithm;
  made.variant_id = variant_id(made.variant);
  made.ring_algorithm = algorithm == RingAlgorithm::automatic ? "ring" : to_string(algorithm);
  sample::time(made, 1, factor, 0);
  input.records.push_back(made);
}

TEST(RingSpeedups, StandInOneRowACase) {
  ReportInput input;
  add_ring(input, 1, RingAlgorithm::automatic, 1);
  add_ring(input, 4, RingAlgorithm::automatic, 0.5);
  add_ring(input, 4, RingAlgorithm::ulysses, 0.25);
  const Table table = ring_speedups_table(view_of(input));
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(cell(table, 0, "ranks"), "4");
  EXPECT_EQ(cell(table, 0, "one_rank").substr(0, 4), "20.0");
  EXPECT_EQ(cell(table, 0, "dilated/linear").substr(0, 5), "2.000");
  EXPECT_EQ(cell(table, 0, "dilated/linear/ulysses").substr(0, 5), "4.000");
}

TEST(PredictedRings, AreThoseLargerThanTheFit) {
  ReportInput input;
  add_ring(input, 1, RingAlgorithm::automatic, 1);
  add_ring(input, 2, RingAlgorithm::automatic, 0.5);
  add_ring(input, 4, RingAlgorithm::automatic, 0.25);  // 5 ms
  add_ring(input, 4, RingAlgorithm::ulysses, 0.5);
  const auto predict = [&](std::size_t record, double ratio, bool fitted) {
    const double ns = ratio * input.records[record].time->median_ns;
    input.predictions.push_back({.work = input.records[record].work,
                                 .variant_id = input.records[record].variant_id,
                                 .ns = ns,
                                 .ci_ns = {0.85 * ns, 1.15 * ns},
                                 .fitted = fitted});
  };
  predict(1, 1.01, true);
  predict(2, 1.1, false);
  predict(3, 0.5, false);
  const Table table = predicted_rings_table(view_of(input));
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(cell(table, 0, "algorithm"), "ring");
  EXPECT_EQ(cell(table, 0, "rings"), "1");
  EXPECT_EQ(cell(table, 0, "worst_error"), "10.0 %");
  EXPECT_EQ(cell(table, 0, "inside"), "1 of 1");
  EXPECT_EQ(cell(table, 1, "median_error"), "50.0 %");
  EXPECT_EQ(cell(table, 1, "inside"), "0 of 1");
  input.predictions.resize(1);
  EXPECT_TRUE(predicted_rings_table(view_of(input)).rows.empty());
}

}  // namespace
}  // namespace hilbench
