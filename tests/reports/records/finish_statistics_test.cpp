#include "reports/records/finish_statistics.hpp"

#include <gtest/gtest.h>

namespace hilbench {
namespace {

TEST(FinishStatistics, MarkAnotherFunctionAndLeaveOutWhatWasNotVerified) {
  std::vector<Record> records = {{.variant_id = "a"}, {.variant_id = "b"}, {.variant_id = "peak"}};
  for (Record& record : records) {
    record.flops = 2e9;
    Timing timing;
    timing.samples_ns = {1e6, 1e6, 1e6, 1e6, 1e6, 1e6};
    timing.process_rounds = {6};
    record.time = timing;
    record.verify = Verification{};
  }
  records[1].variant.order_scope = OrderScope::tokens;
  records[2].verify.reset();
  finish_statistics(records, 0, 1);
  EXPECT_DOUBLE_EQ(*records[0].tflops, 2.0);
  EXPECT_FALSE(records[0].speedup) << "the reference has none";
  ASSERT_TRUE(records[1].speedup);
  EXPECT_EQ(records[1].speedup->verdict, Verdict::different_function);
  EXPECT_FALSE(records[2].speedup);
}

}  // namespace
}  // namespace hilbench
