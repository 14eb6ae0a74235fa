// How far the time of windows follows the pairs that tiles compute.
#pragma once

#include <string>

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// For each case and kernel with at least three different numbers of computed pairs: time as a + b * computed
// pairs, by least squares of relative errors; each variant's time, the predicted one, and the residual.
Table window_times_table(const View& view);
// The same in a sentence; empty if no case has enough variants.
std::string window_times_sentence(const View& view);

}  // namespace hilbench
