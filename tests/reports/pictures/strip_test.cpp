#include "reports/pictures/strip.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

Panel raster_panel(std::vector<std::int64_t> grid, std::int64_t positions) {
  Panel panel{.name = "linear", .grid = std::move(grid), .slots = {}, .footprint = std::nullopt};
  panel.slots.resize(static_cast<std::size_t>(positions));
  std::iota(panel.slots.begin(), panel.slots.end(), 0);
  return panel;
}

std::string drawn(Panel panel) {
  return strip_svg({.title = "a title", .panels = {std::move(panel)}});
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Strip, OfAGridIsAPathForEachTile) {
  const std::string svg = drawn(raster_panel({16, 32}, 16 * 32));
  EXPECT_EQ(times(svg, "<path "), 5u) << "four tiles, and the dot where it begins";
  EXPECT_EQ(times(svg, "h0"), 1u);
  EXPECT_NE(svg.find("a title"), std::string::npos);
  EXPECT_EQ(svg, drawn(raster_panel({16, 32}, 16 * 32)));
}

TEST(Strip, FollowsTheSlots) {
  Panel panel = raster_panel({1, 4}, 4);
  const std::string forwards = drawn(panel);
  std::ranges::reverse(panel.slots);
  EXPECT_NE(forwards, drawn(panel));
}

TEST(Strip, DrawsAVideoPlaneByPlane) {
  const std::string svg = drawn(raster_panel({4, 8, 8}, 4 * 8 * 8));
  EXPECT_EQ(times(svg, "#f3f4f6"), 4u) << "a ground for each plane";
  EXPECT_EQ(times(svg, "M"), 4u + 1u + 1u) << "a line in each plane, the step to the next tile, the dot";
}

TEST(Strip, OfASequenceHasAPointForEachPosition) {
  EXPECT_EQ(times(drawn(raster_panel({}, 300)), "h0"), 300u);
  EXPECT_EQ(times(drawn(raster_panel({}, 1)), "h0"), 1u);
}

TEST(Strip, HoldsNoMarkupOfNames) {
  Panel panel = raster_panel({}, 4);
  panel.name = "<script>";
  EXPECT_EQ(strip_svg({.title = "<b>", .panels = {panel}}).find("<script>"), std::string::npos);
}

TEST(Strip, RefusesWhatNobodyCouldRead) {
  try {
    drawn(raster_panel({}, kMostDrawnPositions + 1));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("too many for a picture"), std::string::npos);
  }
}

TEST(Strip, PutsPanelsInRows) {
  const Panel panel = raster_panel({8, 8}, 64);
  const auto width = [&](std::size_t count) {
    const std::string svg =
        strip_svg({.title = "a", .panels = std::vector<Panel>(count, panel), .side = 100, .across = 3});
    const std::size_t at = svg.find("viewBox=\"0 0 ") + 13;
    return std::stoi(svg.substr(at));
  };
  EXPECT_LT(width(1), width(2));
  EXPECT_EQ(width(3), width(7));
}

}  // namespace
}  // namespace hilbench
