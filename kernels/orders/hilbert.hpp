// Hilbert indices of points on 2^k x 2^k grids, many at a time.
//
// The curve starts at the origin (x = 0, y = 0) and ends at (2^k - 1, 0): index 0 is the first
// cell of a row-major raster, and the last index is the last cell of its first row. The first
// step goes along the row (to x = 1) for even k and along the column for odd k. This is the curve
// of `hilbert_curve` (kernels/orders/curves.hpp).
#pragma once

#include <cstdint>
#include <span>

namespace hilbench {

// index[i] = rank of point (x[i], y[i]) along the curve. 0 <= k <= 16; coordinates are below 2^k; the three
// spans have the same length, and `index` does not overlap the others. Throws UsageError if k is out of range
// or the lengths differ.
void hilbert_encode(std::span<const std::uint16_t> x, std::span<const std::uint16_t> y, int k,
                    std::span<std::uint32_t> index);

// The inverse: the point of each index. Indices are below 4^k.
void hilbert_decode(std::span<const std::uint32_t> index, int k, std::span<std::uint16_t> x,
                    std::span<std::uint16_t> y);

}  // namespace hilbench
