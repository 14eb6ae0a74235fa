#include "harness/run/pace.hpp"

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

double Pace::seconds(const ExpectedTime& expected) const {
  if (rounds_.empty()) return before_.value() * expected.before_s + expected.total_s() - expected.before_s;
  ExpectedTime here = expected;
  here.round_s *= round_.value();
  here.fewest_rounds_s *= round_.value();
  double timing_s = 0;
  for (const double rounds : rounds_) timing_s += here.timing_s(rounds);
  return before_.value() * expected.before_s + timing_s / static_cast<double>(rounds_.size()) +
         after_.value() * expected.after_s;
}

}  // namespace hilbench
