// Rates against arithmetic intensity, with the measured limits of the machine.
#pragma once

#include <optional>

#include "reports/figures/gnuplot.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// Nothing if no record has a rate.
std::optional<Plot> roofline_plot(const View& view);

}  // namespace hilbench
