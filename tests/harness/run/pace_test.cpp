#include "harness/run/pace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace hilbench {
namespace {

// A machine that is not what the plan takes it for: how many times longer its parts take, and how many rounds
// the scatter of its times asks for.
struct Machine {
  double before = 1, round = 1, after = 1;
  double rounds = 10;

  SpentTime run(const ExpectedTime& expected) const {
    const double round_s = expected.round_s * round;
    const double in_budget = std::max(1.0, std::ceil(expected.budget_s / round_s));
    const double fewest = std::max(1.0, std::round(expected.fewest_rounds_s / expected.round_s));
    const double taken = std::max(fewest, std::min(rounds, in_budget));
    return {.before_s = expected.before_s * before,
            .timing_s = taken * round_s,
            .after_s = expected.after_s * after,
            .rounds = static_cast<std::int64_t>(taken)};
  }
};

double all_of(const SpentTime& spent) {
  return spent.before_s + spent.timing_s + spent.after_s;
}

// Comparisons whose work differs by 32 times, as the lengths of a sweep do.
std::vector<ExpectedTime> comparisons(double budget_s) {
  std::vector<ExpectedTime> all;
  for (const double size : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0})
    all.push_back({.before_s = 0.5 + 0.1 * size,
                   .round_s = 0.02 * size,
                   .budget_s = budget_s,
                   .fewest_rounds_s = 6 * 0.02 * size,
                   .after_s = 0.1 * size});
  return all;
}

TEST(Pace, IsThePlanBeforeAnythingIsMeasured) {
  const ExpectedTime expected = comparisons(10)[2];
  EXPECT_DOUBLE_EQ(Pace().seconds(expected), expected.total_s());
  EXPECT_EQ(Pace().seconds({}), 0);
}

TEST(Pace, IsRightWithinHalfAfterTheFirstComparison) {
  for (const double budget_s : {1.0, 5.0, 30.0})
    for (const Machine& machine :
         {Machine{}, Machine{.before = 4, .round = 3, .after = 0.3, .rounds = 25},
          Machine{.before = 0.2, .round = 0.4, .after = 5, .rounds = 1000}, Machine{.round = 8, .rounds = 12},
          Machine{.before = 10, .round = 0.1, .rounds = 10}}) {
      const std::vector<ExpectedTime> all = comparisons(budget_s);
      Pace pace;
      pace.learn(all[0], machine.run(all[0]));
      double expected_s = 0, taken_s = 0;
      for (std::size_t i = 1; i < all.size(); ++i) {
        expected_s += pace.seconds(all[i]);
        taken_s += all_of(machine.run(all[i]));
      }
      EXPECT_LT(expected_s / taken_s, 1.5) << budget_s << " " << machine.round;
      EXPECT_GT(expected_s / taken_s, 1 / 1.5) << budget_s << " " << machine.round;
    }
}

TEST(Pace, LearnsFromAllThatAreDone) {
  const ExpectedTime one = comparisons(10)[0];
  Pace pace;
  pace.learn(one, Machine{.before = 2, .rounds = 10}.run(one));
  pace.learn(one, Machine{.before = 4, .rounds = 30}.run(one));
  const double timing_s = (10 + 30) / 2 * one.round_s;
  EXPECT_NEAR(pace.seconds(one), 3 * one.before_s + timing_s + one.after_s, 1e-9);
  pace.learn({}, {.before_s = 0.001});  // one that was skipped
  EXPECT_NEAR(pace.seconds(one), 3 * one.before_s + timing_s + one.after_s, 1e-9);
  EXPECT_EQ(pace.seconds({}), 0);
}

constexpr ExpectedTime kStep = {
    .before_s = 10, .round_s = 2, .budget_s = 20, .fewest_rounds_s = 12, .after_s = 4};

TEST(PaceWithinAStep, CountsDownWhatGoesAsPlanned) {
  const Pace pace;
  const double warm_up_s = 2 * kStep.round_s;
  const double all_s = kStep.total_s() + warm_up_s;
  EXPECT_DOUBLE_EQ(pace.seconds_left(kStep, {}, StepPart::before), all_s);
  EXPECT_DOUBLE_EQ(pace.seconds_left(kStep, {.before_s = 6}, StepPart::before), all_s - 6);
  const SpentTime timing = {.before_s = 10, .timing_s = 10, .rounds = 4};
  EXPECT_DOUBLE_EQ(pace.seconds_left(kStep, timing, StepPart::timing), all_s - 20);
  const SpentTime counting = {.before_s = 10, .timing_s = 24, .after_s = 1, .rounds = 10};
  EXPECT_DOUBLE_EQ(pace.seconds_left(kStep, counting, StepPart::after), 3);
}

TEST(PaceWithinAStep, WhatIsSlowSoFarWillBeSlow) {
  const Pace pace;
  // Verification that takes three times as long: so do the fewest rounds, which then pass the budget.
  EXPECT_DOUBLE_EQ(pace.seconds_left(kStep, {.before_s = 30}, StepPart::before), 3 * (12 + 4 + 4));
  // Four rounds and the warm-up took 36 s instead of 12.
  const SpentTime slow = {.before_s = 10, .timing_s = 36, .rounds = 4};
  EXPECT_DOUBLE_EQ(pace.seconds_left(kStep, slow, StepPart::timing), 3 * (12 + 4) - 36 + 3 * 4);
  EXPECT_GT(pace.seconds_left(kStep, {.before_s = 1000}, StepPart::before), 1000)
      << "the timing is still to come, however long the rest took";
}

TEST(PaceWithinAStep, NothingIsLeftOfWhatTookLongerThanItShould) {
  const Pace pace;
  const SpentTime over = {.before_s = 10, .timing_s = 60, .rounds = 40};
  EXPECT_DOUBLE_EQ(pace.seconds_left(kStep, over, StepPart::timing), 4) << "the counters";
  const SpentTime counted = {.timing_s = 20, .after_s = 9, .rounds = 8};
  EXPECT_EQ(pace.seconds_left(kStep, counted, StepPart::after), 0);
  EXPECT_EQ(pace.seconds_left({}, {.before_s = 3}, StepPart::before), 0) << "a step without work";
}

}  // namespace
}  // namespace hilbench
