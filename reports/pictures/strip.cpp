#include "reports/pictures/strip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "kernels/base/text/error.hpp"
#include "reports/pictures/drawing.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

constexpr double kMargin = 20, kGap = 22, kTitle = 40, kName = 20, kLine = 17;
// Neighbouring tiles differ in colour, also for readers who see few (Okabe and Ito 2008).
constexpr std::array<std::string_view, 8> kTileColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                          "#56b4e9", "#8a6d00", "#333333", "#7b4fa3"};
constexpr std::string_view kRead = "#9ecae9", kNeeded = "#0072b2", kQueries = "#d55e00";
constexpr std::string_view kEmpty = "#f3f4f6";

// Where the positions of a grid lie: its planes beside each other, about as wide as high in all. In units of
// a position.
class Cells {
 public:
  explicit Cells(std::span<const std::int64_t> grid)
      : planes_(grid.size() > 2 ? grid[0] : 1), rows_(grid[grid.size() - 2]), columns_(grid.back()) {
    const double shape = static_cast<double>(planes_ * rows_) / static_cast<double>(columns_);
    across_ = std::clamp(static_cast<std::int64_t>(std::lround(std::sqrt(shape))), std::int64_t{1}, planes_);
    gap_ = planes_ > 1 ? std::max<std::int64_t>(1, std::max(rows_, columns_) / 12) : 0;
  }

  double width() const { return static_cast<double>(across_ * (columns_ + gap_) - gap_); }
  double height() const {
    return static_cast<double>((planes_ + across_ - 1) / across_ * (rows_ + gap_) - gap_);
  }
  std::int64_t plane_of(std::int64_t position) const { return position / (rows_ * columns_); }
  // The upper left corner of its cell.
  Point corner(std::int64_t position) const {
    const std::int64_t plane = plane_of(position), in_plane = position % (rows_ * columns_);
    return {static_cast<double>(plane % across_ * (columns_ + gap_) + in_plane % columns_),
            static_cast<double>(plane / across_ * (rows_ + gap_) + in_plane / columns_)};
  }
  Point middle(std::int64_t position) const {
    const Point at = corner(position);
    return {at.x + 0.5, at.y + 0.5};
  }
  bool in_one_row(std::int64_t first, std::int64_t last) const { return first / columns_ == last / columns_; }
  void ground(Drawing& drawing) const {
    for (std::int64_t plane = 0; plane < planes_; ++plane)
      drawing.rectangle(corner(plane * rows_ * columns_), static_cast<double>(columns_),
                        static_cast<double>(rows_), kEmpty);
  }

 private:
  std::int64_t planes_, rows_, columns_, across_ = 1, gap_ = 0;
};

// The positions in the sequence of their slots.
std::vector<std::int64_t> visited(std::span<const std::int64_t> slots) {
  std::vector<std::int64_t> positions(slots.size());
  std::iota(positions.begin(), positions.end(), 0);
  std::ranges::stable_sort(positions, {}, [&](std::int64_t p) { return slots[static_cast<std::size_t>(p)]; });
  return positions;
}

std::string_view colour_of(std::int64_t slot) {
  return kTileColours[static_cast<std::size_t>(slot / kDrawnTile) % kTileColours.size()];
}

// Of the planes' scale: the larger side fills `side`.
double scale_of(const Cells& cells, double side) {
  return side / std::max(cells.width(), cells.height());
}

void draw_path(Drawing& drawing, const Panel& panel, double side) {
  const Cells cells(panel.grid);
  const double pixels = scale_of(cells, side), width = std::clamp(0.22 * pixels, 0.7, 4.0) / pixels;
  cells.ground(drawing);
  const std::vector<std::int64_t> positions = visited(panel.slots);
  const std::int64_t count = std::ssize(positions);
  for (std::int64_t first = 0; first < count; first += kDrawnTile) {
    std::vector<Line> lines(1);  // a new one in each plane
    // With the first of the next tile, so that the path has no gaps.
    for (std::int64_t i = first; i < std::min(first + kDrawnTile + 1, count); ++i) {
      const std::int64_t at = positions[static_cast<std::size_t>(i)];
      const bool turns =
          i > first && cells.plane_of(at) != cells.plane_of(positions[static_cast<std::size_t>(i - 1)]);
      if (turns) lines.emplace_back();
      lines.back().push_back(cells.middle(at));
    }
    for (Line& line : lines)
      if (line.size() == 1) line.push_back(line.front());  // seen as a dot
    drawing.lines(lines, colour_of(first), width);
  }
  const std::array<Point, 1> begin = {cells.middle(positions.front())};
  drawing.dots(begin, kInk, std::clamp(0.6 * pixels, 4.0, 12.0) / pixels);
}

void draw_slots(Drawing& drawing, const Panel& panel, double side) {
  const std::int64_t count = std::ssize(panel.slots);
  const double pixels = side / static_cast<double>(count);
  drawing.rectangle({0, 0}, static_cast<double>(count), static_cast<double>(count), kEmpty);
  for (std::int64_t first = 0; first < count; first += kDrawnTile) {
    std::vector<Point> points;
    for (std::int64_t position = 0; position < count; ++position) {
      const std::int64_t slot = panel.slots[static_cast<std::size_t>(position)];
      if (slot >= first && slot < first + kDrawnTile)
        points.push_back({static_cast<double>(position) + 0.5, static_cast<double>(count - slot) - 0.5});
    }
    drawing.dots(points, colour_of(first), std::clamp(pixels, 1.6, 5.0) / pixels);
  }
}

// Neighbours are one rectangle: those of a row, and equal runs of rows under each other.
void draw_cells(Drawing& drawing, const Cells& cells, std::span<const std::int64_t> positions,
                std::string_view colour) {
  struct Run {
    Point corner;
    double width = 0, height = 1;
  };
  std::vector<Run> runs;
  std::map<std::pair<double, double>, std::size_t> above;  // by left end and width: the run that grew last
  for (std::size_t first = 0; first < positions.size();) {
    std::size_t end = first + 1;
    while (end < positions.size() && positions[end] == positions[end - 1] + 1 &&
           cells.in_one_row(positions[first], positions[end]))
      ++end;
    const Run run{.corner = cells.corner(positions[first]), .width = static_cast<double>(end - first)};
    const auto [at, fresh] = above.try_emplace({run.corner.x, run.width}, runs.size());
    if (!fresh && runs[at->second].corner.y + runs[at->second].height == run.corner.y) {
      ++runs[at->second].height;
    } else {
      at->second = runs.size();
      runs.push_back(run);
    }
    first = end;
  }
  for (const Run& run : runs) drawing.rectangle(run.corner, run.width, run.height, colour);
}

void draw_footprint(Drawing& drawing, const Panel& panel) {
  const Cells cells(panel.grid);
  cells.ground(drawing);
  draw_cells(drawing, cells, panel.footprint->keys, kRead);
  draw_cells(drawing, cells, panel.footprint->needed, kNeeded);
  draw_cells(drawing, cells, panel.footprint->queries, kQueries);
}

// Lines under the name of a panel.
std::vector<std::string> numbers_of(const Panel& panel) {
  if (!panel.footprint) return {};
  return {fmt::format("computed / needed {:.2f}", panel.footprint->computed_over_needed),
          fmt::format("the tile reads {} keys", panel.footprint->keys.size())};
}

struct Sizes {
  double width = 0, height = 0;
};

// Of what is drawn in a panel.
Sizes drawn_sizes(const Panel& panel, double side) {
  if (panel.grid.empty()) return {side, side};
  const Cells cells(panel.grid);
  const double scale = scale_of(cells, side);
  return {cells.width() * scale, cells.height() * scale};
}

void draw_panel(Drawing& drawing, const Panel& panel, const Point& at, double side) {
  double y = at.y;
  if (!panel.name.empty()) {
    drawing.text({at.x, y + 13}, panel.name, 13, kInk, Drawing::Weight::bold);
    y += kName;
  }
  for (const std::string& line : numbers_of(panel)) {
    drawing.text({at.x, y + 12}, line, 12, kPaleInk);
    y += kLine;
  }
  const Sizes sizes = drawn_sizes(panel, side);
  const double cells_wide =
      panel.grid.empty() ? static_cast<double>(panel.slots.size()) : Cells(panel.grid).width();
  drawing.begin({at.x, y}, sizes.width / cells_wide);
  if (panel.footprint)
    draw_footprint(drawing, panel);
  else if (panel.grid.empty())
    draw_slots(drawing, panel, side);
  else
    draw_path(drawing, panel, side);
  drawing.end();
}

// What the colours mean, from `at` on; one line, or a few on a narrow picture. Returns where it ends.
double draw_legend(Drawing& drawing, const Strip& strip, const Point& at, double width) {
  std::vector<std::pair<std::string_view, std::string_view>> entries;
  if (strip.panels.front().footprint)
    entries = {{kQueries, "queries of a tile"},
               {kNeeded, "keys that one of them needs"},
               {kRead, "keys that the tile reads"}};
  else if (strip.panels.front().grid.empty())
    entries = {{"", "Right: position. Up: slot."}, {"", "A colour is a tile of 128 slots."}};
  else
    entries = {{"", "From the dot on, slot after slot."}, {"", "A colour is a tile of 128 slots."}};
  double x = at.x, y = at.y;
  for (const auto& [colour, words] : entries) {
    const double wide = (colour.empty() ? 0 : 17) + 6.3 * static_cast<double>(words.size());
    if (x > at.x && x + wide > at.x + width) {
      x = at.x;
      y += kLine;
    }
    if (!colour.empty()) drawing.rectangle({x, y - 10}, 11, 11, colour);
    drawing.text({x + (colour.empty() ? 0 : 17), y}, words, 12, kPaleInk);
    x += wide + 16;
  }
  return y;
}

void require_drawable(const Panel& panel) {
  const std::int64_t positions = panel.grid.empty() ? std::ssize(panel.slots)
                                                    : std::accumulate(panel.grid.begin(), panel.grid.end(),
                                                                      std::int64_t{1}, std::multiplies<>());
  if (positions > kMostDrawnPositions)
    throw UsageError({.what = fmt::format("{} positions are too many for a picture", positions),
                      .where = panel.name,
                      .why = fmt::format("it shows at most {}", kMostDrawnPositions),
                      .remedy = "draw a smaller grid: --grid 32x32"});
}

}  // namespace

std::string strip_svg(const Strip& strip) {
  for (const Panel& panel : strip.panels) require_drawable(panel);
  const std::size_t across = std::min(strip.across, strip.panels.size());
  const double width = 2 * kMargin + static_cast<double>(across) * (strip.side + kGap) - kGap;
  Drawing drawing;
  drawing.text({kMargin, 26}, strip.title, 15, kInk, Drawing::Weight::bold);
  double y = kTitle;
  for (std::size_t first = 0; first < strip.panels.size(); first += across) {
    double high = 0;
    for (std::size_t i = first; i < std::min(first + across, strip.panels.size()); ++i) {
      const Panel& panel = strip.panels[i];
      draw_panel(drawing, panel, {kMargin + static_cast<double>(i - first) * (strip.side + kGap), y},
                 strip.side);
      high = std::max(high, drawn_sizes(panel, strip.side).height + (panel.name.empty() ? 0 : kName) +
                                kLine * static_cast<double>(numbers_of(panel).size()));
    }
    y += high + kGap;
  }
  y = draw_legend(drawing, strip, {kMargin, y + 4}, width - 2 * kMargin);
  return drawing.svg(width, y + 14, strip.title);
}

std::string strip_caption(const Strip& strip) {
  const Panel& first = strip.panels.front();
  if (first.footprint)
    return "One tile of 128 queries in each order: its queries, the keys that the query in their middle "
           "needs, and the keys that the tile reads for all of them. Computed / needed: pairs, of all tiles.";
  if (first.grid.empty())
    return "The slot of each position: position to the right, slot upwards. A colour is a tile of 128 "
           "slots.";
  return "The path through the positions, slot after slot, from the dot on. A colour is a tile of 128 slots: "
         "the queries of one tile.";
}

}  // namespace hilbench
