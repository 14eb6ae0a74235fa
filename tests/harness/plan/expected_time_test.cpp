#include "harness/plan/expected_time.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "baselines/external/programs.hpp"
#include "harness/plan/plan_tables.hpp"
#include "kernels/implementation.hpp"

namespace hilbench {
namespace {

Comparison comparison(std::initializer_list<double> seconds) {
  Comparison made{.work = {.sequence_length = 4096, .kv_heads = 8}};
  for (const double each : seconds) made.variants.push_back({.seconds = each});
  return made;
}

TEST(ExpectedTime, IsTheBudgetAndWhatComesBeforeAndAfterIt) {
  const Comparison two = comparison({0.1, 0.3});
  const ExpectedTime time = expected_time({.budget_s = 30, .processes = 3}, 1, two);
  EXPECT_EQ(time.budget_s, 10) << "of one process";
  EXPECT_GT(time.before_s, 0.4) << "each variant is run and checked";
  EXPECT_GE(time.round_s, 0.4);
  EXPECT_GT(time.after_s, 0) << "a set of counters";
  EXPECT_DOUBLE_EQ(time.total_s(), time.before_s + 10 + time.after_s);
  EXPECT_DOUBLE_EQ(time.timing_s(5), std::max(5 * time.round_s, time.fewest_rounds_s));
  EXPECT_EQ(expected_time({.budget_s = 30}, 0, two).after_s, 0);
}

TEST(ExpectedTime, RoundsThatMustBeTakenPassTheBudgetUnlessTheyBend) {
  const Comparison slow = comparison({10});
  const ExpectedTime time = expected_time({.budget_s = 5}, 0, slow);
  EXPECT_DOUBLE_EQ(time.timing_s(100), 6 * time.round_s);
  const ExpectedTime bent = expected_time({.budget_s = 5, .rounds_bend = true}, 0, slow);
  EXPECT_DOUBLE_EQ(bent.timing_s(100), bent.round_s) << "one round is needed";
}

TEST(ExpectedTime, AProgramNeedsSecondsToStart) {
  const Implementation program{.name = "program", .external = true};
  Comparison with_program = comparison({0.1, 0.1});
  const double built_in_s = expected_time({.budget_s = 5}, 0, with_program).total_s();
  with_program.variants[1].implementation = &program;
  EXPECT_GE(expected_time({.budget_s = 5}, 0, with_program).total_s(), built_in_s + 0.3);
}

TEST(ExpectedTime, IsNothingIfNothingRuns) {
  Comparison skipped = comparison({1});
  skipped.variants[0].skip = "too large";
  EXPECT_EQ(expected_time({}, 1, skipped).total_s(), 0);
}

TEST(ExpectedTime, StandsUnderThePlan) {
  Plan plan{.comparisons = {comparison({0.001}), comparison({0.001})}};
  const std::string table = plan_table(plan, {.budget_s = 30, .processes = 5});
  EXPECT_NE(table.find("A run takes about 1 min "), std::string::npos) << table;
  EXPECT_NE(table.find(": at most 1 min 0 s of timing, the rest to prepare, verify and count.\n"),
            std::string::npos)
      << table;
  for (Comparison& each : plan.comparisons) each.variants[0].skip = "too large";
  EXPECT_EQ(plan_table(plan).find("A run takes"), std::string::npos) << "there is nothing to run";
}

TEST(ExpectedTime, TellsWhatRivalsCompile) {
  Plan plan{.comparisons = {comparison({0.001}), comparison({0.001})}};
  EXPECT_EQ(plan_table(plan).find("compiles"), std::string::npos);
  for (Comparison& each : plan.comparisons)
    for (const char* name : {"torch_windows.flex", "torch_windows"}) {
      PlannedVariant planned;
      planned.variant = variant_named(ImplementationKind::baseline, name);
      each.variants.push_back(planned);
    }
  EXPECT_NE(
      plan_table(plan).find("torch_windows.flex compiles and tunes 2 cases before they are measured: at most "
                            "2 min 0 s each, unless one attempt takes longer, and 4 min 0 s in all."),
      std::string::npos)
      << plan_table(plan);
  const auto limit = fmt::format("FLEX_TUNING_S = {:g}  ", baseline_tuning_s("torch_sdpa.flex"));
  EXPECT_NE(embedded_script("torch_sdpa").find(limit), std::string::npos) << "as the script says";
}

}  // namespace
}  // namespace hilbench
