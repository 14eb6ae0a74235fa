// Rates against arithmetic intensity, below the machine's measured limits.
#pragma once

#include <optional>

#include "reports/figures/gnuplot.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// Nothing where no record has a rate.
std::optional<Plot> roofline_plot(const View& view);

}  // namespace hilbench
