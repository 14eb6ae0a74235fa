#include "reports/view/judge.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

// The times of one variant: `factor` ms in every round, and in process p `wobble` to the p-th power of -1.
Record timed(const Case& work, std::string_view order, double factor, double wobble = 0, int processes = 5) {
  Record made = sample::record(work, "dilated", order);
  made.reference = "dilated/linear";
  made.verify = Verification{.before = {.rows = 1}};
  made.flops = 1e9;
  made.time = Timing{.timer = "steady_clock"};
  for (int process = 0; process < processes; ++process) {
    const double own = 1 + (process % 2 == 0 ? wobble : -wobble);
    for (int round = 0; round < 7; ++round) made.time->samples_ns.push_back(1e7 * factor * own);
    made.time->process_rounds.push_back(7);
  }
  return made;
}

std::vector<Record> comparison(int processes = 5) {
  const Case work = sample::work(8192, {{2048, 1}});
  return {timed(work, "linear", 1, 0, processes), timed(work, "hilbert", 0.9, 0.001, processes),
          timed(work, "random", 1.2, 0.001, processes), timed(work, "snake", 1.001, 0.001, processes),
          timed(work, "gray", 1.02, 0.02, processes)};
}

TEST(Judge, GivesEveryVerdict) {
  std::vector<Record> records = comparison();
  judge(records);
  EXPECT_FALSE(records[0].speedup) << "the reference has none";
  EXPECT_EQ(records[1].speedup->verdict, Verdict::faster);
  EXPECT_NEAR(records[1].speedup->ratio, 1 / 0.9, 1e-3);
  EXPECT_EQ(records[1].speedup->processes, 5);
  EXPECT_EQ(records[1].speedup->against, "dilated/linear");
  EXPECT_EQ(records[2].speedup->verdict, Verdict::slower);
  EXPECT_EQ(records[3].speedup->verdict, Verdict::equivalent);
  EXPECT_EQ(records[4].speedup->verdict, Verdict::inconclusive);
  EXPECT_NEAR(records[0].time->median_ns, 1e7, 1e-3);
  EXPECT_NEAR(*records[0].tflops, 0.1, 1e-6) << "1 GFLOP in 10 ms";
}

TEST(Judge, NeverFindsEqualityInOneProcess) {
  std::vector<Record> records = comparison(1);
  judge(records);
  EXPECT_EQ(records[1].speedup->verdict, Verdict::faster);
  EXPECT_EQ(records[3].speedup->verdict, Verdict::inconclusive);
  EXPECT_EQ(records[3].speedup->processes, 1);
}

TEST(Judge, ForgetsWhatWasStored) {
  std::vector<Record> records = comparison();
  records[3].speedup = Measured{.ratio = 9, .verdict = Verdict::faster, .against = "dilated/linear"};
  judge(records);
  EXPECT_EQ(records[3].speedup->verdict, Verdict::equivalent);
}

TEST(Judge, TellsAnotherFunctionAndLeavesOutWhatCannotBeCompared) {
  std::vector<Record> records = comparison();
  records[1].variant.change().order_scope = OrderScope::tokens;
  records[2].verify.reset();
  (*records[3].environment)["device_state"] = {{"foreign_processes", 1}};
  records[4].time->samples_ns.pop_back();
  records[4].time->process_rounds.back() = 6;
  judge(records);
  EXPECT_EQ(records[1].speedup->verdict, Verdict::different_function);
  for (const int left_out : {2, 3, 4}) EXPECT_FALSE(records[left_out].speedup) << left_out;
}

TEST(Judge, FindsTheReferenceThatOnlySomeRecordsName) {  // as the oldest records do
  std::vector<Record> records = comparison();
  for (Record& record : records) record.reference.clear();
  judge(records);
  EXPECT_FALSE(records[1].speedup);
  records[2].reference = "dilated/linear";
  judge(records);
  EXPECT_TRUE(records[1].speedup && records[2].speedup);
}

// An effect that is clear by itself and not among many: five processes 1.7 to 3.2 % faster.
TEST(Judge, CorrectsForTheFamilyOfKernelsAndNotForTwinsAndRivals) {
  const auto verdict = [](auto change) {
    std::vector<Record> records;
    for (int i = 0; i < 30; ++i) {
      const Case work = sample::work(8192 + 16 * i, {{2048, 1}});
      records.push_back(timed(work, "linear", 1));
      Record other = timed(work, "hilbert", i == 0 ? 0.976 : 1, 0.007);
      if (i > 0) change(other);
      records.push_back(other);
    }
    judge(records);
    return records[1].speedup->verdict;
  };
  EXPECT_EQ(verdict([](Record&) {}), Verdict::inconclusive);
  EXPECT_EQ(verdict([](Record& record) { record.kind = ImplementationKind::baseline; }), Verdict::faster);
  EXPECT_EQ(verdict([](Record& record) { record.variant.change().order_scope = OrderScope::tokens; }),
            Verdict::faster);
  EXPECT_EQ(verdict([](Record& record) { record.twin = true; }), Verdict::faster);
}

TEST(Judge, WidensTheMarginByTheTwinsOfOtherComparisons) {
  std::vector<Record> records;
  for (int i = 0; i < 22; ++i) {
    const Case work = sample::work(8192 + 16 * i, {{2048, 1}});
    records.push_back(timed(work, "linear", 1));
    records.push_back(timed(work, "hilbert", 0.97, 0.001));
    Record twin = timed(work, "linear", i == 0 ? 2 : 1.04);
    twin.variant_id += "@twin";
    twin.twin = true;
    records.push_back(twin);
  }
  judge(records);
  for (const Record& record : records)
    if (record.speedup && !record.twin) {
      EXPECT_NEAR(record.speedup->margin, 0.04, 1e-9) << record.case_id << ": its own twin does not count";
      EXPECT_EQ(record.speedup->verdict, Verdict::equivalent) << "3 % has no name on this machine";
    }
  records.resize(3 * 20);  // 19 others
  judge(records);
  EXPECT_EQ(records[1].speedup->margin, kDefaultMargin);
  EXPECT_EQ(records[1].speedup->verdict, Verdict::faster);
  records[1].margin = 0.1;
  judge(records);
  EXPECT_EQ(records[1].speedup->verdict, Verdict::equivalent) << "the margin that the sweep asks for";
}

}  // namespace
}  // namespace hilbench
