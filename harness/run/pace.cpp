#include "harness/run/pace.hpp"

#include <algorithm>
#include <limits>

namespace hilbench {

void Pace::Factor::add(double expected_s, double spent_s) {
  expected += expected_s;
  spent += spent_s;
}

void Pace::learn(const ExpectedTime& expected, const SpentTime& spent) {
  if (expected.before_s > 0) before_.add(expected.before_s, spent.before_s);
  if (expected.after_s > 0) after_.add(expected.after_s, spent.after_s);
  if (spent.rounds == 0) return;
  const auto rounds = static_cast<double>(spent.rounds);
  round_.add(expected.round_s * rounds, spent.timing_s);
  constexpr std::size_t kMostKept = 20;
  if (rounds_.size() == kMostKept) rounds_.pop_front();
  // Within one more round of the budget: more rounds were wanted.
  const bool ended_by_budget = spent.timing_s + spent.timing_s / rounds > expected.budget_s;
  rounds_.push_back(ended_by_budget ? std::numeric_limits<double>::infinity() : rounds);
}

double Pace::timing_s(const ExpectedTime& expected, double slower) const {
  ExpectedTime here = expected;
  here.round_s *= round_.value() * slower;
  here.fewest_rounds_s *= round_.value() * slower;
  if (rounds_.empty()) return here.timing_s(std::numeric_limits<double>::infinity());
  double sum_s = 0;
  for (const double rounds : rounds_) sum_s += here.timing_s(rounds);
  return sum_s / static_cast<double>(rounds_.size());
}

double Pace::seconds(const ExpectedTime& expected) const {
  return before_.value() * expected.before_s + timing_s(expected, 1) + after_.value() * expected.after_s;
}

double Pace::seconds_left(const ExpectedTime& expected, const SpentTime& spent, StepPart part) const {
  constexpr double kWarmUpRounds = 2;  // before the first round; what is learned holds them
  const auto slower = [](double taken_s, double expected_s) {
    return expected_s > 0 ? std::max(1.0, taken_s / expected_s) : 1.0;
  };
  const double before_s = before_.value() * expected.before_s, after_s = after_.value() * expected.after_s;
  const double round_s = round_.value() * expected.round_s;
  const double warm_up = rounds_.empty() ? kWarmUpRounds : 0;
  double factor = 1, left_s = 0;
  if (part == StepPart::before) {
    factor = slower(spent.before_s, before_s);
    left_s =
        std::max(0.0, before_s - spent.before_s) + timing_s(expected, factor) + warm_up * factor * round_s;
  } else {
    factor = slower(spent.timing_s, (static_cast<double>(spent.rounds) + kWarmUpRounds) * round_s);
    if (part == StepPart::timing)
      left_s = std::max(0.0, timing_s(expected, factor) + warm_up * factor * round_s - spent.timing_s);
  }
  return left_s + std::max(0.0, factor * after_s - spent.after_s);
}

}  // namespace hilbench
