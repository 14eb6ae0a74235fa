// Kernels in linear order against each rival.
#pragma once

#include <optional>

#include "reports/figures/gnuplot.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// One row for each case and kernel. Nothing if there are fewer than two rivals.
std::optional<Plot> rivals_plot(const View& view);

}  // namespace hilbench
