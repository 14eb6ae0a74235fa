#include "reports/figures/rivals_plot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "reports/figures/plot_parts.hpp"
#include "reports/tables/rivals.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

constexpr std::string_view kWideTics = "0.125, 0.25, 0.5, 0.7, 1, 1.4, 2, 4, 8, 16";
constexpr std::string_view kNarrowTics = "0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.4, 1.6, 2, 2.4";

struct RivalPoints {
  Series series;  // x: the ratio, y: the row
  std::string labels;
  std::size_t rows = 0;
  double least = 1, most = 1;
};

RivalPoints rival_points(const View& view) {
  RivalPoints points;
  const Record* last = nullptr;
  for (const RivalPair& pair : rival_pairs(view, kMostRivalRows)) {
    if (pair.kernel != last)
      points.labels += fmt::format("1\t{}\t{}\n", points.rows++,
                                   gnuplot_field(fmt::format("{}: {}", kernel_text(*pair.kernel),
                                                             masked_case_text(*pair.where->work))));
    last = pair.kernel;
    points.least = std::min(points.least, pair.ratio.ci.low);
    points.most = std::max(points.most, pair.ratio.ci.high);
    points_of(points.series, pair.rival->variant_id)
        .push_back({pair.ratio.ratio, static_cast<double>(points.rows - 1), pair.ratio.ci});
  }
  return points;
}

}  // namespace

std::optional<Plot> rivals_plot(const View& view) {
  RivalPoints points = rival_points(view);
  if (points.series.size() < 2) return std::nullopt;
  const std::string thinned = thin(points.series);
  Plot plot{.name = "rivals", .title = "Kernels against their rivals"};
  plot.caption = fmt::format(
      "Time of the rival / time of the kernel in linear order, the same case in the same rounds. Right of 1, "
      "the kernel is faster. Bars: 95 % interval. Labels: kernel, sequence length, segment/dilation of each "
      "branch, heads, head_dim, dtype. {}.{}",
      view.machine, thinned);
  plot.data["labels.tsv"] = points.labels;
  const auto curves = curves_of(points.series, "using 1:2:3:4 with xerrorbars", Places::exact, plot);
  plot.height = 170 + 30 * static_cast<int>(points.rows);
  plot.script =
      titled("Time of the rival / time of the kernel: right of 1 the kernel is faster", view, plot.height) +
      std::string(frame()) +
      fmt::format(
          "set logscale x 2\nset xtics ({})\n"
          "set yrange [{}:-0.6]\nset xlabel 'time of the rival / time of the kernel'\n"
          "set arrow 1 from 1, graph 0 to 1, graph 1 nohead dt 2 lw 1.4 lc rgb '#444444'\n"
          "set bmargin 5.5\nset key at screen 0.5, screen 0.02 center bottom horizontal\nset offsets graph "
          "0.04, graph 0.04, 0, 0\nplot 'labels.tsv' using 1:2:yticlabels(3) with points pt -1 notitle, {}",
          points.most > 3 * points.least ? kWideTics : kNarrowTics, static_cast<double>(points.rows) - 0.4,
          fmt::join(curves, ", "));
  return plot;
}

}  // namespace hilbench
