#include "kernels/orders/curves.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "kernels/orders/hilbert.hpp"

namespace hilbench {
namespace {

// Steps of a curve: unit, diagonal and longer, and whether its ends touch.
struct Steps {
  bool every_cell_once = true;
  int diagonal = 0;
  int longer = 0;
  bool closed = false;
};
Steps steps_of(Curve curve, std::int64_t width, std::int64_t height) {
  std::vector<std::uint32_t> cells(static_cast<std::size_t>(width * height));
  curve(width, height, cells);
  const auto distance = [&](std::int64_t a, std::int64_t b) {
    const auto columns = std::abs(a % width - b % width);
    const auto rows = std::abs(a / width - b / width);
    return std::max(columns, rows) > 1 ? 3 : columns + rows;
  };
  Steps steps;
  for (std::size_t i = 1; i < cells.size(); ++i) {
    const auto step = distance(cells[i - 1], cells[i]);
    steps.diagonal += step == 2;
    steps.longer += step == 3;
  }
  steps.closed = cells.size() > 1 && distance(cells.front(), cells.back()) == 1;
  std::sort(cells.begin(), cells.end());
  for (std::size_t i = 0; i < cells.size(); ++i) steps.every_cell_once &= cells[i] == i;
  return steps;
}

TEST(Curves, HilbertCoversAnyRectangleByUnitStepsButForOneDiagonal) {
  for (std::int64_t width = 1; width <= 66; ++width)
    for (std::int64_t height = 1; height <= 66; ++height) {
      const Steps steps = steps_of(hilbert_curve, width, height);
      ASSERT_TRUE(steps.every_cell_once) << width << " x " << height;
      ASSERT_EQ(steps.longer, 0) << width << " x " << height;
      const bool may_need_one = std::max(width, height) % 2 == 1 && std::min(width, height) % 2 == 0;
      ASSERT_LE(steps.diagonal, may_need_one ? 1 : 0) << width << " x " << height;
    }
}

TEST(Curves, MortonAndGrayCoverAnyRectangle) {
  for (std::int64_t width = 1; width <= 40; ++width)
    for (std::int64_t height = 1; height <= 40; ++height) {
      ASSERT_TRUE(steps_of(morton_curve, width, height).every_cell_once) << width << " x " << height;
      ASSERT_TRUE(steps_of(gray_curve, width, height).every_cell_once) << width << " x " << height;
    }
}

TEST(Curves, MooreIsClosedWhereverTheRasterHasAnEvenSide) {
  for (std::int64_t width = 2; width <= 64; ++width)
    for (const std::int64_t height : {width - 1, width}) {
      const Steps steps = steps_of(moore_curve, width, height);
      ASSERT_TRUE(steps.every_cell_once);
      EXPECT_EQ(steps.longer, 0) << width << " x " << height;
      const bool even = width * height % 2 == 0;
      EXPECT_LE(steps.diagonal, even ? 0 : 1) << width << " x " << height;
      if (even) {
        EXPECT_TRUE(steps.closed) << width << " x " << height;
      }
    }
}

// The recursion walks a rectangle of two squares through one and then the other.
TEST(Curves, HilbertRecursionAgreesWithTheIndexFormulaOnSquares) {
  for (int k = 0; k <= 8; ++k) {
    const std::size_t side = std::size_t{1} << k;
    std::vector<std::uint32_t> cells(2 * side * side);
    hilbert_curve(static_cast<std::int64_t>(2 * side), static_cast<std::int64_t>(side), cells);
    std::vector<std::uint16_t> x(side * side), y(side * side);
    for (std::size_t i = 0; i < side * side; ++i) {
      x[i] = static_cast<std::uint16_t>(cells[i] % (2 * side));
      y[i] = static_cast<std::uint16_t>(cells[i] / (2 * side));
    }
    std::vector<std::uint32_t> index(side * side), ranks(side * side);
    std::iota(ranks.begin(), ranks.end(), 0u);
    hilbert_encode(x, y, k, index);
    EXPECT_EQ(index, ranks) << "k = " << k;
  }
}

TEST(Curves, RasterIsTheSmallestNearSquare) {
  for (std::int64_t length = 1; length <= 2000; ++length) {
    const Raster raster = raster_of(length);
    ASSERT_GE(raster.width * raster.width, length);
    ASSERT_LT((raster.width - 1) * (raster.width - 1), length);
    ASSERT_GE(raster.cells(), length);
    ASSERT_LT(raster.cells() - raster.width, length);
  }
  const std::int64_t side = 46340;
  EXPECT_EQ(raster_of(side * side).width, side);
  EXPECT_EQ(raster_of(side * side + 1).width, side + 1);
  EXPECT_EQ(raster_of(side * side - 1).width, side);
}

}  // namespace
}  // namespace hilbench
