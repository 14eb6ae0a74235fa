#include "harness/commands/order_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string_view>
#include <vector>

#include "kernels/base/text/error.hpp"
#include "reports/view/table.hpp"

namespace hilbench {
namespace {

constexpr double kSide = 520, kMargin = 24, kTitle = 40, kFoot = 34;
// Neighbouring tiles differ in colour, also for readers who see few (Okabe and Ito 2008).
constexpr std::array<std::string_view, 8> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#56b4e9", "#8a6d00", "#333333", "#7b4fa3"};

struct Point {
  double x = 0, y = 0;
};

// The positions in the sequence of their slots.
std::vector<std::size_t> visited(std::span<const std::int64_t> slots) {
  std::vector<std::size_t> positions(slots.size());
  std::iota(positions.begin(), positions.end(), std::size_t{0});
  std::ranges::stable_sort(positions, {}, [&](std::size_t position) { return slots[position]; });
  return positions;
}

class Drawing {
 public:
  Drawing(double width, double height) : width_(width), height_(height) {}

  double width() const { return width_; }
  double height() const { return height_; }

  void path(std::span<const Point> points, std::string_view colour, double stroke) {
    std::string d;
    for (const Point& point : points)
      fmt::format_to(std::back_inserter(d), "{}{:.1f},{:.1f}", d.empty() ? "M" : " ", point.x, point.y);
    fmt::format_to(
        std::back_inserter(drawn_),
        "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{:.2f}\" stroke-linejoin=\"round\" "
        "stroke-linecap=\"round\"/>\n",
        d, colour, stroke);
  }
  void dot(const Point& at, std::string_view colour, double radius) {
    fmt::format_to(std::back_inserter(drawn_),
                   "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.2f}\" fill=\"{}\"/>\n", at.x, at.y, radius,
                   colour);
  }
  std::string svg(const std::string& title, const std::string& foot) const {
    const double wide = width_ + 2 * kMargin, high = height_ + kTitle + kFoot;
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" font-family=\"sans-serif\" font-size=\"13\" role=\"img\">\n<title>{2}</title>\n"
        "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" rx=\"6\" fill=\"#ffffff\"/>\n"
        "<text x=\"{3:.0f}\" y=\"26\" font-size=\"15\" font-weight=\"bold\" fill=\"#1b1f24\">{2}</text>\n{4}"
        "<text x=\"{3:.0f}\" y=\"{5:.0f}\" fill=\"#40474f\">{6}</text>\n</svg>\n",
        wide, high, html_text(title), kMargin, drawn_, high - 12, html_text(foot));
  }

 private:
  double width_, height_;
  std::string drawn_;
};

std::string_view colour_of(std::size_t place) {
  return kColours[place / static_cast<std::size_t>(kDrawnTile) % kColours.size()];
}

std::string on_grid(const std::string& title, std::span<const WindowDimension> grid,
                    std::span<const std::int64_t> slots) {
  const auto rows = static_cast<double>(grid[0].extent), columns = static_cast<double>(grid[1].extent);
  const double cell = kSide / std::max(rows, columns);
  Drawing drawing(columns * cell, rows * cell);
  const auto place_of = [&](std::size_t position) {
    const auto at = static_cast<std::int64_t>(position);
    return Point{kMargin + (static_cast<double>(at % grid[1].extent) + 0.5) * cell,
                 kTitle + (static_cast<double>(at / grid[1].extent) + 0.5) * cell};
  };
  const std::vector<std::size_t> positions = visited(slots);
  const auto tile = static_cast<std::size_t>(kDrawnTile);
  for (std::size_t first = 0; first < positions.size(); first += tile) {
    std::vector<Point> points;  // with the first of the next tile, so that the path has no gaps
    for (std::size_t i = first; i < std::min(first + tile + 1, positions.size()); ++i)
      points.push_back(place_of(positions[i]));
    drawing.path(points, colour_of(first), std::clamp(0.22 * cell, 0.8, 4.0));
  }
  drawing.dot(place_of(positions.front()), "#1b1f24", std::clamp(0.28 * cell, 1.5, 6.0));
  return drawing.svg(
      title, fmt::format("From the dot on, slot after slot; a colour is a tile of {} rows.", kDrawnTile));
}

std::string on_sequence(const std::string& title, std::span<const std::int64_t> slots) {
  Drawing drawing(kSide, kSide);
  const double most = std::max<double>(1, static_cast<double>(slots.size() - 1));
  for (std::size_t position = 0; position < slots.size(); ++position) {
    const auto slot = std::clamp<double>(static_cast<double>(slots[position]), 0, most);
    drawing.dot(
        {kMargin + static_cast<double>(position) / most * kSide, kTitle + kSide - slot / most * kSide},
        colour_of(static_cast<std::size_t>(slot)), slots.size() > 2000 ? 1.0 : 2.0);
  }
  return drawing.svg(title,
                     fmt::format("Right: position. Up: slot; a colour is a tile of {} slots.", kDrawnTile));
}

}  // namespace

std::string order_picture(const std::string& title, std::span<const WindowDimension> grid,
                          std::span<const std::int64_t> slots) {
  if (std::ssize(slots) > kMostDrawnPositions)
    throw UsageError({.what = fmt::format("{} positions are too many for a picture", slots.size()),
                      .where = "--svg",
                      .why = fmt::format("it shows at most {}", kMostDrawnPositions),
                      .remedy = "draw a smaller grid: --grid 32x32"});
  if (grid.size() > 2)
    throw UsageError({.what = "a picture shows two dimensions",
                      .where = "--svg",
                      .why = fmt::format("the grid has {}", grid.size()),
                      .remedy = "--grid HxW"});
  return grid.empty() ? on_sequence(title, slots) : on_grid(title, grid, slots);
}

}  // namespace hilbench
