#include "reports/figures/figures.hpp"

#include <algorithm>

#include "reports/figures/claims_plot.hpp"
#include "reports/figures/rate_bars.hpp"
#include "reports/figures/rivals_plot.hpp"
#include "reports/figures/roofline_plot.hpp"
#include "reports/figures/speedup_plot.hpp"
#include "reports/figures/times_plot.hpp"

namespace hilbench {

std::vector<Plot> plots_of(const View& view, const std::vector<ClaimAnswer>& answers) {
  const auto length_of = [](const Case& work) { return static_cast<double>(work.sequence_length); };
  const auto dilation_of = [](const Case& work) {
    std::int64_t most = 1;
    for (const Branch& branch : work.pattern) most = std::max(most, branch.dilation);
    return static_cast<double>(most);
  };
  std::vector<Plot> plots;
  for (auto& plot : {claims_plot(view, answers), rates_plot(view),
                     speedup_plot(view, "speedup_length", "sequence length", length_of),
                     speedup_plot(view, "speedup_dilation", "largest dilation", dilation_of),
                     roofline_plot(view), rivals_plot(view), times_plot(view)})
    if (plot) plots.push_back(*plot);
  return plots;
}

}  // namespace hilbench
