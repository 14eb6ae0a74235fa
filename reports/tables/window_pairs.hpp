// What windows on grids cost before any time is measured: pairs that are needed, and pairs that tiles
// compute.
#pragma once

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// One row for each record that has pairs.
Table window_pairs_table(const View& view);

}  // namespace hilbench
