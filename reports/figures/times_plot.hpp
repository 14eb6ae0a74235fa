// Time of every variant of the first cases.
#pragma once

#include <optional>

#include "reports/figures/gnuplot.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// A row for each timed variant; nothing where none is timed.
std::optional<Plot> times_plot(const View& view);

}  // namespace hilbench
