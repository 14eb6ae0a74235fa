// Speedup of every kernel variant against a number of its case.
#pragma once

#include <optional>
#include <string>

#include "reports/figures/gnuplot.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// `name`: of the figure. `axis`: what `x_of` returns, "sequence length". Nothing if no record has a speedup.
std::optional<Plot> speedup_plot(const View& view, const std::string& name, const std::string& axis,
                                 double (*x_of)(const Case& work));

}  // namespace hilbench
