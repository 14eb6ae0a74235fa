// What windows on grids cost before any time is measured: pairs that are needed, and pairs that tiles
// compute.
#pragma once

#include <string>

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// One row for each record that has pairs.
Table window_pairs_table(const View& view);
// What the orders of grids gain over raster order, and how many pairs each computes. Empty if no case of
// windows has times of both.
std::string windows_sentence(const View& view);

}  // namespace hilbench
