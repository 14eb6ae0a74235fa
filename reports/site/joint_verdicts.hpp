// How often each verdict on a claim was given, if several runs that answer one claim count as one.
#pragma once

#include <vector>

#include "reports/site/overview.hpp"
#include "reports/view/table.hpp"

namespace hilbench {

// A row for what claims compare, in each dtype that was measured. Runs of one machine that answer a claim in
// one case give one verdict together, or differ.
Table joint_verdicts_table(const std::vector<MachineOverview>& machines);

}  // namespace hilbench
