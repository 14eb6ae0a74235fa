// Claims against machines.
#pragma once

#include <string>
#include <vector>

#include "reports/site/overview.hpp"

namespace hilbench {

// A row for each claim and what it compares, a column for each machine. A cell says the verdicts of all runs
// on that machine and the range of what was measured; its numbers link to the records they are from. Rows
// that no machine answers are left out. Addresses are relative to the index. "" without any answer.
std::string claim_matrix_html(const std::vector<MachineOverview>& machines);

}  // namespace hilbench
