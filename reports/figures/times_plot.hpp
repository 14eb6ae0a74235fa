// Times of the variants of the first cases.
#pragma once

#include <optional>

#include "reports/figures/gnuplot.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// One row for each timed variant; nothing if there is none.
std::optional<Plot> times_plot(const View& view);

}  // namespace hilbench
