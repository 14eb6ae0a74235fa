// The static figures of the report.
#pragma once

#include <vector>

#include "reports/claims/answers.hpp"
#include "reports/figures/gnuplot.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// Claimed and measured speedup; speedup by length and by dilation; roofline; rivals; time of each variant. A
// figure that would be empty is left out. Of large stores only some points are drawn; the caption says which.
std::vector<Plot> plots_of(const View& view, const std::vector<ClaimAnswer>& answers);

}  // namespace hilbench
