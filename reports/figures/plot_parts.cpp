#include "reports/figures/plot_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "reports/records/stats.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kMostSeries = 8;
constexpr std::size_t kMostPoints = 240;

// Shape and colour of a series. Shapes differ first; the colours are those of Okabe and Ito.
struct Look {
  int shape;
  std::string_view colour;
};
constexpr std::array<Look, kMostSeries> kLooks = {{{7, "#0072B2"},
                                                   {9, "#D55E00"},
                                                   {5, "#009E73"},
                                                   {13, "#A0527F"},
                                                   {6, "#000000"},
                                                   {8, "#8A6100"},
                                                   {4, "#3E7FA8"},
                                                   {12, "#666666"}}};
// At most `most` points: one for each x, or, if there are more, one for each of `most` sections of a
// logarithmic axis. Each is the median of its group; the interval goes from the lowest low end to the
// highest high end.
std::vector<Point> collapsed(const std::vector<Point>& points, std::size_t most) {
  std::map<double, std::vector<Point>> groups;
  for (const Point& point : points) groups[point.x].push_back(point);
  if (groups.size() > most) {
    const double low = std::log(groups.begin()->first), high = std::log(groups.rbegin()->first);
    groups.clear();
    for (const Point& point : points)
      groups[std::floor((std::log(point.x) - low) / (high - low) * (static_cast<double>(most) - 1))]
          .push_back(point);
  }
  std::vector<Point> result;
  for (const auto& [key, group] : groups) {
    std::vector<double> xs, ys;
    Interval range = group.front().ci;
    for (const Point& point : group) {
      xs.push_back(point.x);
      ys.push_back(point.y);
      range = {std::min(range.low, point.ci.low), std::max(range.high, point.ci.high)};
    }
    result.push_back({median(xs), median(ys), range});
  }
  return result;
}

}  // namespace

std::vector<Point>& points_of(Series& series, const std::string& name) {
  for (auto& [known, points] : series)
    if (known == name) return points;
  return series.emplace_back(name, std::vector<Point>()).second;
}

std::string thin(Series& series) {
  std::string said;
  if (series.size() > kMostSeries) {
    said += fmt::format(" The first {} of {} variants are drawn; the tables hold all.", kMostSeries,
                        series.size());
    series.resize(kMostSeries);
  }
  std::size_t points = 0;
  for (const auto& [name, of_series] : series) points += of_series.size();
  if (points <= kMostPoints) return said;
  for (auto& [name, of_series] : series) of_series = collapsed(of_series, kMostPoints / series.size());
  return said +
         " Points are medians of neighbouring cases; bars go from the lowest to the highest end of their "
         "intervals.";
}

std::string point_lines(const std::vector<Point>& points, double x_factor) {
  std::string lines;
  for (const Point& point : points)
    lines += fmt::format("{}\t{}\t{}\t{}\n", point.x * x_factor, point.y, point.ci.low, point.ci.high);
  return lines;
}

double beside(std::size_t series, std::size_t count) {
  return std::pow(2.0, 0.055 * (static_cast<double>(series) - 0.5 * static_cast<double>(count - 1)));
}

std::vector<std::string> curves_of(const Series& series, std::string_view style, Places places, Plot& plot) {
  std::vector<std::string> curves;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const std::string file = fmt::format("series{}.tsv", i);
    const double x_factor = places == Places::side_by_side ? beside(i, series.size()) : 1;
    plot.data[file] = point_lines(series[i].second, x_factor);
    curves.push_back(
        fmt::format("'{}' {} {} title {}", file, style, look(i), gnuplot_quoted(series[i].first)));
  }
  return curves;
}

std::string_view colour_of(std::size_t series) {
  return kLooks[series % kLooks.size()].colour;
}

std::string look(std::size_t series) {
  const Look& of = kLooks[series % kLooks.size()];
  return fmt::format("pt {} ps 1.1 lw 1.6 lc rgb '{}'", of.shape, of.colour);
}

std::string_view frame() {
  return "set border 3 lc rgb '#444444'\nset tics nomirror out textcolor rgb '#222222'\n"
         "set grid back lt 1 lc rgb '#e2e2e2' lw 0.7\n";
}

std::string titled(const std::string& title, const View& view, int height) {
  const auto from_top = [&](double pixels) { return 1 - pixels / height; };
  return fmt::format(
      "set label 101 {} at screen 0.012, screen {:.4f} left font ',15'\n"
      "set label 102 {} at screen 0.012, screen {:.4f} left font ',12' textcolor rgb '#555555'\n"
      "set tmargin at screen {:.4f}\n",
      gnuplot_quoted(title), from_top(20), gnuplot_quoted(view.machine), from_top(42), from_top(66));
}

std::string log_tics(double low, double high) {
  if (!(low >= 1e-300) || !(high <= 1e300)) return "";  // records with such numbers get the tics of gnuplot
  std::vector<std::string> tics;
  const bool decades_only = high / low > 200;
  for (double decade = std::pow(10, std::floor(std::log10(low))); decade <= high; decade *= 10)
    for (const double step : {1.0, 2.0, 5.0}) {
      if ((decades_only && step > 1) || decade * step < low || decade * step > high) continue;
      tics.push_back(fmt::format("'{0:.6g}' {0:.6g}", decade * step));
    }
  return fmt::format("{}", fmt::join(tics, ", "));
}

}  // namespace hilbench
