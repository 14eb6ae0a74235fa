// Claimed and measured speedup.
#pragma once

#include <optional>
#include <vector>

#include "reports/claims/answers.hpp"
#include "reports/figures/gnuplot.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// One row for each claim of a speedup that was measured; nothing if there is none.
std::optional<Plot> claims_plot(const View& view, const std::vector<ClaimAnswer>& answers);

}  // namespace hilbench
