// Curves: visiting orders of the cells of a rectangle. Orders apply them to the raster of a sequence,
// traversals to the grid of tiles.
#pragma once

#include <cstdint>
#include <span>

namespace hilbench {

// The raster of `length` positions, row-major: width ceil(sqrt(length)), height ceil(length / width). Its
// last row may be partial. `length` at least 1.
struct Raster {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t cells() const { return width * height; }
};
Raster raster_of(std::int64_t length);

// A curve fills cells[rank] = y * width + x for every rank. `cells` has width * height entries, at least 1
// and at most 2^32.
using Curve = void (*)(std::int64_t width, std::int64_t height, std::span<std::uint32_t> cells);

// Rows in turn from left to right and from right to left. Unit steps.
void snake_curve(std::int64_t width, std::int64_t height, std::span<std::uint32_t> cells);

// Z-order: the rank's bits are those of y (odd) and x (even), cells outside the rectangle skipped.
void morton_curve(std::int64_t width, std::int64_t height, std::span<std::uint32_t> cells);

// The Gray code of the rank has the bits of y (odd) and x (even), cells outside the rectangle skipped.
void gray_curve(std::int64_t width, std::int64_t height, std::span<std::uint32_t> cells);

// The Hilbert curve on a 2^k square; on any other rectangle its generalisation, which halves the longer side
// (an elongated rectangle) or walks up, across and down (a compact one). Begins at cell 0 and ends at the far
// end of the longer side that starts there (of the first row if the sides are equal). Unit steps, but for one
// diagonal where the longer side is odd and the shorter even.
void hilbert_curve(std::int64_t width, std::int64_t height, std::span<std::uint32_t> cells);

// The Moore curve on a 2^k square; on any other rectangle two generalised Hilbert curves over its left and
// right part, down along the cut and up again. Begins left of the cut in the first row. On the raster of a
// sequence (height = width or width - 1): unit steps and closed where the number of cells is even, else at
// most one diagonal step.
void moore_curve(std::int64_t width, std::int64_t height, std::span<std::uint32_t> cells);

}  // namespace hilbench
