#include "kernels/orders/grid_curves.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace hilbench {
namespace {

std::vector<std::uint32_t> walked(BoxCurve curve, const GridBox& box) {
  std::vector<std::uint32_t> cells(static_cast<std::size_t>(box.cells()), ~0u);
  curve(box, cells);
  return cells;
}

bool visits_every_cell(std::vector<std::uint32_t> cells) {
  std::sort(cells.begin(), cells.end());
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (cells[i] != i) return false;
  return true;
}

// Steps to a cell that is no neighbour.
std::int64_t long_steps(const std::vector<std::uint32_t>& cells, const GridBox& box) {
  std::int64_t found = 0;
  for (std::size_t i = 1; i < cells.size(); ++i) {
    const std::int64_t a = cells[i - 1], b = cells[i];
    const std::int64_t distance = std::abs(a % box.columns - b % box.columns) +
                                  std::abs(a / box.columns % box.rows - b / box.columns % box.rows) +
                                  std::abs(a / box.columns / box.rows - b / box.columns / box.rows);
    if (distance != 1) ++found;
  }
  return found;
}

void for_each_box(std::int64_t longest, auto visit) {
  for (std::int64_t planes = 1; planes <= longest; ++planes)
    for (std::int64_t rows = 1; rows <= longest; ++rows)
      for (std::int64_t columns = 1; columns <= longest; ++columns) visit(GridBox{planes, rows, columns});
}

TEST(BoxCurves, VisitEveryCellOfEveryBoxOnce) {
  for (const BoxCurve curve : {snake_box, morton_box, hilbert_box})
    for_each_box(9, [&](const GridBox& box) {
      ASSERT_TRUE(visits_every_cell(walked(curve, box)))
          << box.planes << " x " << box.rows << " x " << box.columns;
    });
}

TEST(BoxCurves, SnakeTakesUnitSteps) {
  for_each_box(9, [&](const GridBox& box) {
    ASSERT_EQ(long_steps(walked(snake_box, box), box), 0)
        << box.planes << " x " << box.rows << " x " << box.columns;
  });
}

TEST(BoxCurves, HilbertTakesUnitStepsIfAllExtentsAreEven) {
  for_each_box(9, [&](const GridBox& half) {
    const GridBox box{2 * half.planes, 2 * half.rows, 2 * half.columns};
    const auto cells = walked(hilbert_box, box);
    ASSERT_EQ(cells.front(), 0u);
    ASSERT_EQ(long_steps(cells, box), 0) << box.planes << " x " << box.rows << " x " << box.columns;
  });
  const GridBox video{32, 48, 80};
  EXPECT_EQ(long_steps(walked(hilbert_box, video), video), 0);
}

// Eight neighbours of a curve are near each other in all dimensions, which raster order is not.
TEST(BoxCurves, HilbertFillsSmallCubes) {
  const GridBox box{8, 8, 8};
  const auto cells = walked(hilbert_box, box);
  for (std::size_t i = 0; i < cells.size(); i += 8) {
    std::uint32_t least[3] = {8, 8, 8}, most[3] = {0, 0, 0};
    for (std::size_t j = i; j < i + 8; ++j)
      for (int d = 0; d < 3; ++d) {
        const std::uint32_t at = cells[j] >> 3 * d & 7;
        least[d] = std::min(least[d], at), most[d] = std::max(most[d], at);
      }
    for (int d = 0; d < 3; ++d) ASSERT_LE(most[d] - least[d], 3u) << "cells from " << i;
  }
}

TEST(BoxCurves, MortonInterleavesTheBits) {
  const GridBox box{4, 4, 4};
  const auto cells = walked(morton_box, box);
  for (std::uint32_t rank = 0; rank < 64; ++rank) {
    std::uint32_t column = 0, row = 0, plane = 0;
    for (int bit = 0; bit < 2; ++bit) {
      column |= (rank >> 3 * bit & 1) << bit;
      row |= (rank >> (3 * bit + 1) & 1) << bit;
      plane |= (rank >> (3 * bit + 2) & 1) << bit;
    }
    ASSERT_EQ(cells[rank], (plane * 4 + row) * 4 + column);
  }
}

}  // namespace
}  // namespace hilbench
