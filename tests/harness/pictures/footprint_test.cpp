#include "harness/pictures/footprint.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "kernels/case/windows.hpp"
#include "reports/pictures/strip.hpp"

namespace hilbench {
namespace {

Case image(std::int64_t extent, std::int64_t window) {
  Case work{.kv_heads = 8,
            .windows = {{.extent = extent, .window = window}, {.extent = extent, .window = window}}};
  fill_in_windows(work);
  return work;
}

KernelChoice in_order(std::string order, std::vector<std::int64_t> box = {}) {
  return {.order = std::move(order), .order_box = std::move(box), .order_tensors = OrderTensors::qkv};
}

// By hand: a tile of raster order on 64 columns is two whole rows; with windows of 13 x 13 it reads 14 rows.
TEST(Footprint, OfRasterOrderIsRows) {
  const Footprint footprint = footprint_of(image(64, 13), in_order("linear"));
  EXPECT_EQ(footprint.queries.size(), 128u);
  EXPECT_EQ(footprint.keys.size(), 14u * 64u);
  EXPECT_EQ(footprint.needed.size(), 13u * 13u);
}

// A box of 8 x 16 queries reads (8 + 12) x (16 + 12) keys, if no edge of the grid is near.
TEST(Footprint, OfABoxIsABox) {
  const Footprint footprint = footprint_of(image(256, 13), in_order("boxes", {8, 16}));
  EXPECT_EQ(footprint.keys.size(), 20u * 28u);
  const std::int64_t first = footprint.queries.front(), last = footprint.queries.back();
  EXPECT_EQ(last - first, 7 * 256 + 15);
}

TEST(Footprint, ExplainsTheCounts) {
  const Case work = image(64, 13);
  const auto ratio = [&](const KernelChoice& choice) {
    return footprint_of(work, choice).computed_over_needed;
  };
  const double raster = ratio(in_order("linear")), hilbert = ratio(in_order("hilbert")),
               boxes = ratio(in_order("boxes", {8, 16})), random = ratio(in_order("random"));
  EXPECT_LT(boxes, raster);
  EXPECT_LT(hilbert, raster);
  EXPECT_GT(random, raster);
  EXPECT_EQ(footprint_of(work, in_order("hilbert"), 2.5).computed_over_needed, 2.5) << "as it was counted";
}

TEST(Footprint, HoldsWhatItsQueriesNeed) {
  for (const char* order : {"linear", "hilbert", "random"}) {
    const Footprint footprint = footprint_of(image(32, 5), in_order(order));
    EXPECT_TRUE(std::ranges::includes(footprint.keys, footprint.needed)) << order;
    EXPECT_TRUE(std::ranges::includes(footprint.keys, footprint.queries)) << order;
  }
}

TEST(Footprint, IsDrawnWithItsNumbers) {
  Panel panel{.name = "boxes.8.16",
              .grid = {64, 64},
              .slots = {},
              .footprint = footprint_of(image(64, 13), in_order("boxes", {8, 16}), 3.25)};
  const std::string svg = strip_svg({.title = "a", .panels = {std::move(panel)}});
  for (const char* words : {"boxes.8.16", "computed / needed 3.25", "queries of a tile", "the tile reads"})
    EXPECT_NE(svg.find(words), std::string::npos) << words;
}

}  // namespace
}  // namespace hilbench
