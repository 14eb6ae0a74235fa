#include "reports/figures/roofline_plot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "reports/figures/plot_parts.hpp"
#include "reports/figures/series_names.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

// The range of the axes: FLOP per byte, and GFLOP/s.
struct Reach {
  double least = 1e300, most = 0, lowest = 1e300, highest = 0;

  void add(double x, double y) {
    least = std::min(least, x);
    most = std::max(most, x);
    lowest = std::min(lowest, y);
    highest = std::max(highest, y);
  }
};

Series rates(const View& view, Reach& reach) {
  Series series;
  const Naming naming = naming_of(view);
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records) {
      if (record->status != Status::ok || !record->flops || !record->tflops || !record->min_bytes) continue;
      if (*record->min_bytes <= 0 || *record->tflops <= 0 || *record->flops <= 0) continue;
      // Three digits of intensity: if a large store is thinned, cases that differ by less share a point.
      const double step = std::pow(10, std::floor(std::log10(*record->flops / *record->min_bytes)) - 2);
      const double x = std::round(*record->flops / *record->min_bytes / step) * step;
      const double y = *record->tflops * 1e3;
      reach.add(x, y);
      points_of(series, record->variant_id + work_text(record->work, naming)).push_back({x, y, {y, y}});
    }
  return series;
}

// The measured limits; each dtype has its own roof.
struct Roofs {
  std::vector<std::string> curves;
  std::vector<std::string> texts;  // "123 TFLOP/s (bf16)"
  double bandwidth = 0;
};

Roofs roofs_of(const View& view, Reach& reach) {
  Roofs roofs;
  std::map<Dtype, double> peaks;
  for (const CaseView& of_case : view.cases) {
    double& peak = peaks[of_case.work->dtype];
    peak = std::max(peak, of_case.peak_flops_per_s.value_or(0));
    roofs.bandwidth = std::max(roofs.bandwidth, of_case.copy_bytes_per_s.value_or(0));
  }
  for (const auto& [dtype, peak] : peaks) {
    if (peak <= 0 || roofs.bandwidth <= 0) continue;
    roofs.texts.push_back(fmt::format("{} ({})", rate_text(peak), to_string(dtype)));
    reach.least = std::min(reach.least, peak / roofs.bandwidth / 8);
    reach.lowest = std::min(reach.lowest, roofs.bandwidth / 1e9 * reach.least);
    reach.highest = std::max(reach.highest, peak / 1e9);
    roofs.curves.push_back(fmt::format(
        "(x*{0} < {1} ? x*{0} : {1}) with lines lw 2 dt {2} lc rgb '#444444' title 'measured limits, {3}'",
        roofs.bandwidth / 1e9, peak / 1e9, roofs.texts.size(), to_string(dtype)));
  }
  return roofs;
}

std::string caption_of(const View& view, const Roofs& roofs, const std::string& thinned) {
  const std::string roof =
      roofs.texts.empty()
          ? "no peak was measured with these records"
          : fmt::format("the roof is the measured peak, {}, and the measured copy bandwidth, {} GB/s",
                        fmt::join(roofs.texts, ", "), number_text(roofs.bandwidth / 1e9, 3));
  return fmt::format(
      "Rate against arithmetic intensity (FLOPs of the case per byte that every implementation must move). "
      "Higher is better; {}. {}.{}",
      roof, view.machine, thinned);
}

}  // namespace

std::optional<Plot> roofline_plot(const View& view) {
  Reach reach;
  Series series = rates(view, reach);
  if (series.empty()) return std::nullopt;
  Plot plot{.name = "roofline", .title = "Rate against arithmetic intensity"};
  const std::string thinned = thin(series);
  const Roofs roofs = roofs_of(view, reach);
  plot.caption = caption_of(view, roofs, thinned);
  std::vector<std::string> curves = roofs.curves;
  const auto points = curves_of(series, "using 1:2 with points", Places::exact, plot);
  curves.insert(curves.end(), points.begin(), points.end());
  const double left = reach.least / 1.5, right = reach.most * 2;
  const double bottom = reach.lowest / 2, top = reach.highest * 2;
  plot.script =
      titled(roofs.texts.empty() ? "Rate against arithmetic intensity: higher is better"
                                 : "Roofline: higher is better, the line is the limit of this machine",
             view, plot.height) +
      std::string(frame()) +
      fmt::format(
          "set logscale xy\nset samples 400\nset xrange [{}:{}]\nset xtics ({})\nset ytics "
          "({})\nset yrange [{}:{}]\n"
          "set xlabel 'FLOP per byte that must move'\nset ylabel 'GFLOP/s'\n"
          "set key outside right top Left reverse\nplot {}",
          left, right, log_tics(left, right), log_tics(bottom, top), bottom, top, fmt::join(curves, ", "));
  return plot;
}

}  // namespace hilbench
