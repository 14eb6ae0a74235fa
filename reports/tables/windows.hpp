// Windows on grids: every order and rival of a case beside each other, and how far time follows the pairs
// that are computed.
#pragma once

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// A row for each timed variant of a case with windows, and for each that the sweep timed on all pairs of the
// same tokens (another function). Ratios are against the kernel in raster order.
Table windows_table(const View& view);
// The same, a row a case and a column a variant: raster order / the variant; the pairs that it computes for
// each that is needed.
Table windows_by_case_table(const View& view);

}  // namespace hilbench
