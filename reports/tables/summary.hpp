// Every variant in all cases together.
#pragma once

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// One row for each variant, and one more if it was measured both with windows and without: in how many cases
// it is faster, slower or neither. Rows of windows come first.
Table summary_table(const View& view);
// True if the cases are of both kinds.
bool sums_windows_apart(const View& view);

}  // namespace hilbench
