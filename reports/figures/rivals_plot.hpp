// Kernels in linear order against each rival.
#pragma once

#include <optional>

#include "reports/figures/gnuplot.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// A row for each case and kernel. Nothing where fewer than two rivals stand beside a kernel.
std::optional<Plot> rivals_plot(const View& view);

}  // namespace hilbench
