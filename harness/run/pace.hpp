// How long comparisons take here: the plan's estimates, corrected by those that are done.
#pragma once

#include <cstdint>
#include <deque>

#include "harness/plan/expected_time.hpp"

namespace hilbench {

// What one process of a comparison took, in seconds.
struct SpentTime {
  double before_s = 0, timing_s = 0, after_s = 0;
  std::int64_t rounds = 0;  // that have begun
};

// The parts of a process: until timing, timing, and counters.
enum class StepPart { before, timing, after };

class Pace {
 public:
  void learn(const ExpectedTime& expected, const SpentTime& spent);
  double seconds(const ExpectedTime& expected) const;
  // What is left of a process that is in `part` and has spent `spent` so far. If it is slower than expected,
  // so will be what is left of it. 0: it has taken longer than it should.
  double seconds_left(const ExpectedTime& expected, const SpentTime& spent, StepPart part) const;

 private:
  // Real over expected seconds of all comparisons so far; 1 before the first.
  struct Factor {
    double expected = 0, spent = 0;
    void add(double expected_s, double spent_s);
    double value() const { return expected > 0 && spent > 0 ? spent / expected : 1; }
  };
  // `slower`: how many times longer a round takes than by what is known so far.
  double timing_s(const ExpectedTime& expected, double slower) const;

  Factor before_, round_, after_;
  std::deque<double> rounds_;  // that each of the last ones took; infinity if the budget ended it
};

}  // namespace hilbench
