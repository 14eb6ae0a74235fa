// Parts of figures: series and their looks, titles, axes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/figures/gnuplot.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

inline constexpr std::size_t kMostRows = 60;  // in a figure with one row per entry

struct Point {
  double x = 0, y = 0;
  Interval ci;
};
using Series = std::vector<std::pair<std::string, std::vector<Point>>>;

// The points of series `name`; a new name adds a series.
std::vector<Point>& points_of(Series& series, const std::string& name);
// Leaves out series, and joins points, until the figure is readable. Returns a sentence about it
// for the caption.
std::string thin(Series& series);
// Data file of a series: x times `x_factor`, y, low, high.
std::string point_lines(const std::vector<Point>& points, double x_factor);
// Factor on x that draws series side by side on a logarithmic axis, so that bars do not cover each other.
double beside(std::size_t series, std::size_t count);

// Puts the points of every series into the data of `plot`, and returns the curves for its script. `style` is
// in the words of gnuplot, such as "using 1:2 with points".
enum class Places { exact, side_by_side };
std::vector<std::string> curves_of(const Series& series, std::string_view style, Places places, Plot& plot);

// The look of the nth series in the words of gnuplot; shapes differ before colours do.
std::string look(std::size_t series);
std::string_view colour_of(std::size_t series);
// Border, tics and grid of every figure.
std::string_view frame();
// Two lines above the picture: the title, which says what is better, and the machine.
std::string titled(const std::string& title, const View& view, int height);
// Tics 1, 2, 5 for a logarithmic axis; only decades if it spans more than two.
std::string log_tics(double low, double high);

}  // namespace hilbench
