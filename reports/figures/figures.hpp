// What the report draws.
#pragma once

#include <vector>

#include "reports/claims/answers.hpp"
#include "reports/figures/gnuplot.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// Claimed against measured; speedup by length and by dilation; roofline; time per variant. A figure that
// would be empty is left out. Large stores are thinned so that a picture stays readable; the caption says
// how.
std::vector<Plot> plots_of(const View& view, const std::vector<ClaimAnswer>& answers);

}  // namespace hilbench
