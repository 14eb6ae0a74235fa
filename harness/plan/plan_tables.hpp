// A plan as text, for `hilbench plan`.
#pragma once

#include <cstddef>
#include <string>

#include "harness/plan/plan.hpp"

namespace hilbench {

// One line for each variant, then totals and how long a run takes. `counter_sets`: how many the sweep reads.
std::string plan_table(const Plan& plan, const Measure& measure = {}, std::size_t counter_sets = 0);

// `--longest`: for each case of the sweep, leaving its length aside, the longest sequence that fits.
std::string longest_table(const Sweep& sweep, const Site& site);

}  // namespace hilbench
