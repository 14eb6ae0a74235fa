// What several figures share: series and their looks, titles, axes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/figures/gnuplot.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

inline constexpr std::size_t kMostRows = 60;  // of a figure with one row per entry

struct Point {
  double x = 0, y = 0;
  Interval ci;
};
using Series = std::vector<std::pair<std::string, std::vector<Point>>>;

// The points of series `name`, added where it is new.
std::vector<Point>& points_of(Series& series, const std::string& name);
// Keeps a figure readable: few series, few points. Returns what a caption has to say about it.
std::string thin(Series& series);
// Data file of a series: x times `x_factor`, y, low, high.
std::string point_lines(const std::vector<Point>& points, double x_factor);
// Factor on x for series that stand side by side on a logarithmic axis, so that bars do not cover each other.
double beside(std::size_t series, std::size_t count);

// Puts the points of every series into the data of `plot`, and returns its curves: `style` is gnuplot's, such
// as "using 1:2 with points". Points of series that are set side by side keep clear of each other.
enum class Places { exact, side_by_side };
std::vector<std::string> curves_of(const Series& series, std::string_view style, Places places, Plot& plot);

// gnuplot's words for the look of the nth series: shapes differ first, colours second.
std::string look(std::size_t series);
// Border, tics and grid of every figure.
std::string_view frame();
// Two lines at the left edge of the picture: what is better, and on which machine.
std::string titled(const std::string& title, const View& view, int height);
// 1-2-5 tics for a logarithmic axis; decades alone where it spans more than two.
std::string log_tics(double low, double high);

}  // namespace hilbench
