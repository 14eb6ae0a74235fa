// Orders against machines, as a heat map.
#pragma once

#include <string>
#include <vector>

#include "reports/site/overview.hpp"

namespace hilbench {

// A row for each family of orders on dilated patterns and on windows, a column for each machine that measured
// one. A cell gives the median of time of linear order / time of the order, how many cases, and their range;
// its shade follows the median. "" if there is nothing to show.
std::string order_matrix_html(const std::vector<MachineOverview>& machines);

}  // namespace hilbench
