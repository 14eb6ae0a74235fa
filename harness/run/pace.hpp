// How long comparisons take here: the plan's estimates, corrected by those that are done.
#pragma once

#include <cstdint>
#include <deque>

#include "harness/plan/expected_time.hpp"

namespace hilbench {

// What one process of a comparison took, in seconds.
struct SpentTime {
  double before_s = 0, timing_s = 0, after_s = 0;
  std::int64_t rounds = 0;
};

class Pace {
 public:
  void learn(const ExpectedTime& expected, const SpentTime& spent);
  double seconds(const ExpectedTime& expected) const;

 private:
  // Real over expected seconds of all comparisons so far; 1 before the first.
  struct Factor {
    double expected = 0, spent = 0;
    void add(double expected_s, double spent_s);
    double value() const { return expected > 0 && spent > 0 ? spent / expected : 1; }
  };
  Factor before_, round_, after_;
  std::deque<double> rounds_;  // that each of the last ones took; infinity if the budget ended it
};

}  // namespace hilbench
