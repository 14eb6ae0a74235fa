// What the report draws.
#pragma once

#include <optional>
#include <vector>

#include "reports/figures/gnuplot.hpp"
#include "reports/view/pairing.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// Claimed against measured; speedup by length and by dilation; roofline; time per variant. A figure that
// would be empty is left out. Large stores are thinned so that a picture stays readable; the caption says
// how.
std::vector<Plot> plots_of(const View& view, const std::vector<ClaimAnswer>& answers);

// Part of plots_of: kernels in linear order against each rival, a row for each case and kernel. Nothing where
// fewer than two rivals stand beside a kernel.
std::optional<Plot> rivals_plot(const View& view);

}  // namespace hilbench
