// About how long a comparison takes, by nominal rates and before anything is measured.
#pragma once

#include <cstddef>

#include "harness/plan/plan.hpp"
#include "harness/sweep/settings.hpp"

namespace hilbench {

// Of one process of a comparison, in seconds. All 0 if nothing of it can be measured.
struct ExpectedTime {
  double before_s = 0;         // until timing: the process, inputs, indices, verification
  double round_s = 0;          // one sample of each variant
  double budget_s = 0;         // timing ends after this, if `interval` is not reached before
  double fewest_rounds_s = 0;  // unless these take longer
  double after_s = 0;          // the protocols of a chain, and counters

  // Timing that takes `rounds` rounds if the budget lasts.
  double timing_s(double rounds) const;
  // If the budget is spent.
  double total_s() const;
};

// `counter_sets`: how many sets of counters are read.
ExpectedTime expected_time(const Measure& measure, std::size_t counter_sets, const Comparison& comparison);

}  // namespace hilbench
