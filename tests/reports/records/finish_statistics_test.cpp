#include "reports/records/finish_statistics.hpp"

#include <gtest/gtest.h>

namespace hilbench {
namespace {

TEST(FinishStatistics, MediansAndRatesAreOfAllProcesses) {
  std::vector<Record> records = {{.variant_id = "a"}, {.variant_id = "skipped"}};
  records[0].flops = 2e9;
  Timing timing;
  timing.samples_ns = {1e6, 1e6, 1e6, 2e6, 1e6, 1e6};
  timing.process_rounds = {3, 3};
  records[0].time = timing;
  finish_statistics(records);
  EXPECT_DOUBLE_EQ(records[0].time->median_ns, 1e6);
  EXPECT_DOUBLE_EQ(*records[0].tflops, 2.0);
  EXPECT_LE(records[0].time->ci_ns.low, 1e6);
  EXPECT_FALSE(records[1].tflops);
}

}  // namespace
}  // namespace hilbench
