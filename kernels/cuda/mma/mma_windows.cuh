// Windows on a grid: which scores of a warp a mask removes, and where the rows of O are.
#pragma once

#include <cstdint>

#include "kernels/cuda/mma/mma_softmax.cuh"
#include "kernels/cuda/mma/mma_tiling.cuh"
#include "kernels/cuda/shared/window_kernel.hpp"

namespace hilbench::cuda {

// Row of O and LSE of a query of a tile.
__device__ __forceinline__ std::int32_t row_of_query(const WindowTables& windows, const ForwardTile& tile,
                                                     int query) {
  const std::int32_t number = tile.query_first + query;
  return windows.query_rows == nullptr ? number : __ldg(windows.query_rows + number);
}

// The masks of a tile's blocks, one word of 64 bits a thread for 64 keys (MaskLayout::mma). The number of a
// block's mask is read one visit before the mask, and the mask before the products that it applies to.
template <class Tile>
struct WindowMasks {
  static constexpr int kMaskKeys = 128;  // of a mask
  static constexpr bool kFits = Tile::kRows == 128 && Tile::kKeys == 64;

  const std::int32_t* numbers;  // of the tile's blocks
  const uint2* words;           // of this thread in mask 0
  std::int32_t next;            // number of the mask of the next visit
  std::int32_t number;          // of this visit's; below 0: every query sees every key
  uint2 bits;

  __device__ __forceinline__ void start(const WindowTables& windows, const ForwardTile& tile) {
    numbers = windows.mask_of_block + tile.key_position;
    words = reinterpret_cast<const uint2*>(windows.masks) + threadIdx.x;
    next = tile.unmasked;
  }

  // For the visit of the keys from `first_key` on; the next is of those from `after` on, or there is none
  // (-1).
  __device__ __forceinline__ void fetch(int first_key, int after) {
    number = next;
    const int half = first_key / Tile::kKeys % 2 * Tile::kThreads;
    if (number >= 0) bits = __ldg(words + static_cast<std::int64_t>(number) * kMaskWords + half);
    if (after >= 0) next = __ldg(numbers + after / kMaskKeys);
  }

  __device__ __forceinline__ void apply(Scores<Tile>& s) const {
    if (number < 0) return;
    const std::uint32_t both[2] = {bits.x, bits.y};
#pragma unroll
    for (int m = 0; m < Tile::kRowTiles; ++m)
#pragma unroll
      for (int i = 0; i < Tile::kKeys / 2; ++i)
        if ((both[m] & (1u << i)) == 0) s[m][i / 4][i % 4] = kMinusInfinity;
  }
};

}  // namespace hilbench::cuda
