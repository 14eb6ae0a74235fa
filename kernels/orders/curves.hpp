// Curves: sequences in which to visit the cells of a rectangle. Orders apply them to the raster of a
// sequence, traversals to the grid of tiles.
#pragma once

#include <cstdint>
#include <span>

namespace hilbench {

// The raster of `length` positions, row-major: width ceil(sqrt(length)), height ceil(length / width). The
// last row may be partial. `length` is at least 1.
struct Raster {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t cells() const { return width * height; }
};
Raster raster_of(std::int64_t length);

// A curve writes cells[rank] = y * width + x for every rank. `cells` has width * height entries, 1 to 2^32.
using Curve = void (*)(std::int64_t width, std::int64_t height, std::span<std::uint32_t> cells);

// Rows alternately from left to right and from right to left. Unit steps.
void snake_curve(std::int64_t width, std::int64_t height, std::span<std::uint32_t> cells);

// Z-order: the odd bits of the rank are y, the even bits x. Cells outside the rectangle are skipped.
void morton_curve(std::int64_t width, std::int64_t height, std::span<std::uint32_t> cells);

// Gray-code order: the odd bits of the rank's Gray code are y, the even bits x. Cells outside the
// rectangle are skipped.
void gray_curve(std::int64_t width, std::int64_t height, std::span<std::uint32_t> cells);

// The Hilbert curve on a 2^k square. On any other rectangle a generalisation of it, which halves the longer
// side of an elongated rectangle and goes up, across and down in a compact one. Begins at cell 0 and ends at
// the other end of the longer side that begins there (of the first row if the sides are equal). Unit steps,
// except one diagonal step if the longer side is odd and the shorter even.
void hilbert_curve(std::int64_t width, std::int64_t height, std::span<std::uint32_t> cells);

// The Moore curve on a 2^k square. On any other rectangle two generalised Hilbert curves, over its left and
// its right part: down along the cut and up again. Begins left of the cut in the first row. On the raster of
// a sequence (height = width or width - 1) it is closed and has unit steps if the number of cells is even,
// else at most one diagonal step.
void moore_curve(std::int64_t width, std::int64_t height, std::span<std::uint32_t> cells);

}  // namespace hilbench
