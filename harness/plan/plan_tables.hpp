// A plan as text, for `hilbench plan`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/plan/plan.hpp"
#include "reports/terminal/screen.hpp"

namespace hilbench {

// One line for each variant, then totals and how long a run takes. `counter_sets`: how many the sweep reads.
// On a screen with a width all fits it: columns go, long names and reasons have lines of their own.
std::string plan_table(const Plan& plan, const Measure& measure = {}, std::size_t counter_sets = 0,
                       const Screen& screen = {});

// A sentence for each rival that compiles before it is measured: how long that may take.
std::vector<std::string> tuning_lines(const Plan& plan);

// `--longest`: for each case of the sweep, leaving its length aside, the longest sequence that fits.
std::string longest_table(const Sweep& sweep, const Site& site, const Screen& screen = {});

}  // namespace hilbench
