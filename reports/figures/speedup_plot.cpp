#include "reports/figures/speedup_plot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <vector>

#include "reports/figures/plot_parts.hpp"
#include "reports/figures/series_names.hpp"

namespace hilbench {
namespace {

Series speedups(const View& view, double (*x_of)(const Case& work), std::set<double>& xs) {
  Series series;
  const Naming naming = naming_of(view);
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records) {
      if (!record->speedup || record->status != Status::ok || record->kind != ImplementationKind::kernel)
        continue;
      const double x = x_of(*of_case.work);
      xs.insert(x);
      points_of(series, series_name(*record, naming))
          .push_back({x, record->speedup->ratio, record->speedup->ci});
    }
  return series;
}

// At most twelve tics.
std::vector<std::string> tics_of(const std::set<double>& xs) {
  std::vector<std::string> tics;
  const std::size_t stride = (xs.size() + 11) / 12;
  std::size_t place = 0;
  for (const double x : xs)
    if (place++ % stride == 0) tics.push_back(fmt::format("'{0:.0f}' {0:.0f}", x));
  return tics;
}

}  // namespace

std::optional<Plot> speedup_plot(const View& view, const std::string& name, const std::string& axis,
                                 double (*x_of)(const Case& work)) {
  std::set<double> xs;
  Series series = speedups(view, x_of, xs);
  if (series.empty()) return std::nullopt;
  Plot plot{.name = name, .title = "Speedup against " + axis};
  plot.caption = fmt::format(
      "Time of the reference / time of the variant, by {}. Above 1, the variant is faster. Bars: 95 % "
      "interval. Points of one {} are drawn side by side. @tokens computes a different function. {}.{}",
      axis, axis, view.machine, thin(series));
  const auto curves = curves_of(series, "using 1:2:3:4 with yerrorbars", Places::side_by_side, plot);
  plot.script =
      titled(plot.title + ": above 1 is faster", view, plot.height) + std::string(frame()) +
      fmt::format(
          "set logscale x 2\nset xrange [{}:{}]\nset xtics ({})\nset xlabel {}\n"
          "set ylabel 'speedup'\nset key outside right top Left reverse\nset offsets 0,0,0.02,0.02\n"
          "plot 1 with lines dt 2 lw 1.4 lc rgb '#444444' title 'reference', {}",
          *xs.begin() / 1.5, *xs.rbegin() * 1.5, fmt::join(tics_of(xs), ", "), gnuplot_quoted(axis),
          fmt::join(curves, ", "));
  return plot;
}

}  // namespace hilbench
