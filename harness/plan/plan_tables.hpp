// A plan as text, for `hilbench plan`.
#pragma once

#include <string>

#include "harness/plan/plan.hpp"

namespace hilbench {

// One line for each variant, then totals.
std::string plan_table(const Plan& plan, const Measure& measure = {});

// `--longest`: for each case of the sweep, leaving its length aside, the longest sequence that fits.
std::string longest_table(const Sweep& sweep, const Site& site);

}  // namespace hilbench
