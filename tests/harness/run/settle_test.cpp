// What a worker that misbehaves costs.
#include "harness/run/settle.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/harness/run/played_worker.hpp"

namespace hilbench {
namespace {

class BadWorker : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(BadWorker, CostsTheVariantInFlightAndNothingElse) {
  const auto [fate, reason] = GetParam();
  int told = 0;  // that "bad" is at work: again while the worker is silent
  const auto records = measure_comparison(
      task_of(fate, {"good", "bad", "slow"}),
      [&](const TaskEvent& event) { told += event.variant_id == "bad" && !event.record ? 1 : 0; });
  ASSERT_EQ(records.size(), 3u);
  EXPECT_GT(told, std::set<std::string>({"hang", "spin"}).contains(fate) ? 1 : 0);
  EXPECT_EQ(records[0].status, Status::ok);
  EXPECT_EQ(records[1].status, Status::failed);
  EXPECT_NE(records[1].reason.find(reason), std::string::npos) << records[1].reason;
  EXPECT_EQ(records[2].status, Status::ok);
  ASSERT_TRUE(records[2].speedup);
  EXPECT_DOUBLE_EQ(records[2].speedup->ratio, 0.5);
  EXPECT_EQ(records[2].speedup->verdict, Verdict::slower);
}

INSTANTIATE_TEST_SUITE_P(Fates, BadWorker,
                         testing::Values(std::pair{"abort", "signal 6"}, std::pair{"segfault", "signal 11"},
                                         std::pair{"kill", "memory ran out"}, std::pair{"exit", "status 3"},
                                         std::pair{"hang", "no progress for 1 s"},
                                         std::pair{"spin", "no progress for 1 s"},
                                         std::pair{"linger", "no progress for 1 s"},
                                         std::pair{"silent", "without a result"}));

TEST(Settle, FailsAllWhereTheComparisonItselfCannotBeMade) {
  const auto records = measure_comparison(task_of("whole", {"good", "slow"}));
  for (const Record& record : records) {
    EXPECT_EQ(record.status, Status::failed);
    EXPECT_NE(record.reason.find("cannot allocate the inputs"), std::string::npos) << record.reason;
  }
}

TEST(Settle, BlamesNobodyForADeathBetweenTwoVariants) {
  const auto records = measure_comparison(task_of("between", {"bad", "good", "slow"}));
  EXPECT_EQ(records[0].status, Status::invalid);
  EXPECT_EQ(records[1].status, Status::ok) << records[1].reason;
  EXPECT_EQ(records[2].status, Status::ok) << records[2].reason;
}

}  // namespace
}  // namespace hilbench
