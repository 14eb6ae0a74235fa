// Curves over boxes: sequences in which to visit the cells of a grid of three dimensions. Those of two are in
// curves.hpp.
#pragma once

#include <cstdint>
#include <span>

namespace hilbench {

// The grid [planes, rows, columns], row-major.
struct GridBox {
  std::int64_t planes = 0, rows = 0, columns = 0;
  std::int64_t cells() const { return planes * rows * columns; }
};

// Writes cells[rank] = (plane * rows + row) * columns + column for every rank. `cells` has box.cells()
// entries, 1 to 2^32.
using BoxCurve = void (*)(const GridBox& box, std::span<std::uint32_t> cells);

// Planes there and back, in each the rows there and back. Unit steps.
void snake_box(const GridBox& box, std::span<std::uint32_t> cells);

// Z-order: from the lowest, the bits of the rank are of column, row and plane in turn. Cells outside of the
// box are skipped.
void morton_box(const GridBox& box, std::span<std::uint32_t> cells);

// A Hilbert curve, generalised to any box: an elongated one is cut across its long side, a flat one into
// three parts as in two dimensions, a compact one into five. Begins at cell 0. Unit steps if all extents are
// even.
void hilbert_box(const GridBox& box, std::span<std::uint32_t> cells);

}  // namespace hilbench
