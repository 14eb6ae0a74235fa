#include "harness/commands/order_picture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

std::vector<WindowDimension> grid(std::int64_t rows, std::int64_t columns) {
  return {{.extent = rows, .window = rows}, {.extent = columns, .window = columns}};
}

std::vector<std::int64_t> raster(std::int64_t positions) {
  std::vector<std::int64_t> slots(static_cast<std::size_t>(positions));
  std::iota(slots.begin(), slots.end(), 0);
  return slots;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(OrderPicture, OfAGridIsAPathForEachTile) {
  const std::string svg = order_picture("linear on 16 x 32", grid(16, 32), raster(16 * 32));
  EXPECT_EQ(count(svg, "<path "), 4u);
  EXPECT_EQ(count(svg, "<circle "), 1u) << "where it begins";
  EXPECT_NE(svg.find("linear on 16 x 32"), std::string::npos);
  EXPECT_EQ(svg, order_picture("linear on 16 x 32", grid(16, 32), raster(16 * 32)));
}

TEST(OrderPicture, FollowsTheSlots) {
  std::vector<std::int64_t> slots = raster(4);
  const std::string forwards = order_picture("a", grid(1, 4), slots);
  std::ranges::reverse(slots);
  EXPECT_NE(forwards, order_picture("a", grid(1, 4), slots));
}

TEST(OrderPicture, OfASequenceHasAPointForEachPosition) {
  EXPECT_EQ(count(order_picture("a", {}, raster(100)), "<circle "), 100u);
  EXPECT_EQ(count(order_picture("a", {}, raster(1)), "<circle "), 1u);
}

TEST(OrderPicture, HoldsNoMarkupOfATitle) {
  EXPECT_EQ(order_picture("<script>", {}, raster(4)).find("<script>"), std::string::npos);
}

TEST(OrderPicture, RefusesWhatNobodyCouldRead) {
  const auto refusal = [](std::span<const WindowDimension> dimensions, std::int64_t positions) {
    try {
      order_picture("a", dimensions, raster(positions));
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("nothing refused");
  };
  EXPECT_NE(refusal({}, kMostDrawnPositions + 1).find("too many for a picture"), std::string::npos);
  std::vector<WindowDimension> three = grid(2, 2);
  three.push_back({.extent = 2, .window = 2});
  EXPECT_NE(refusal(three, 8).find("a picture shows two dimensions"), std::string::npos);
}

}  // namespace
}  // namespace hilbench
