// What a CUDA kernel is given for windows on a grid, beside what forward.hpp says. C++17 and no fmt, as every
// header that .cu files include.
//
// A tile has up to 128 successive rows of Q, whatever the order: query i is row query_first + i, and q_slots
// is null. Its keys come in blocks of 128, of which the last may be shorter. In a ForwardTile `key_position`
// is the first entry of the tile's blocks in WindowTables, and `unmasked` the number of the mask of the block
// that is visited first.
#pragma once

#include <cstdint>

#include "kernels/cuda/shared/forward.hpp"

namespace hilbench::cuda {

// How a kernel's threads hold the scores of a tile, and so the sequence of the bits of a mask. mma: 64 keys
// at a time; wgmma: 128 (kernels/cuda/shared/window_lists.hpp says which bit is which pair).
enum class MaskLayout { mma, wgmma };
constexpr std::int32_t kMaskWords = 256;  // 64-bit words of a mask

// A grid of positions, row-major, that is cut into boxes, which are numbered row-major too; the slowest
// dimension first. Grids of two dimensions have one plane.
struct GridBoxes {
  std::int32_t extents[3] = {1, 1, 1};
  std::int32_t box[3] = {1, 1, 1};  // divides the extents
};

struct WindowTables {
  const std::int32_t* query_rows = nullptr;     // [sequence] row of O and LSE of each query; null: its number
  const std::int32_t* key_blocks = nullptr;     // aligned: for each block of a tile, which 128 slots it is
  const std::int32_t* mask_of_block = nullptr;  // a mask's number, or below 0: every query sees every key
  const std::uint64_t* masks = nullptr;         // [masks, kMaskWords]
  GridBoxes boxes;  // order `boxes`: tile and key block b are box b, if boxes have 128 positions
};

struct WindowForwardParams : ForwardParams {
  WindowTables windows;
};

// A kernel prepared for windows of one shape; the case's mask is in the tables.
class WindowKernel {
 public:
  virtual ~WindowKernel() = default;
  virtual MaskLayout mask_layout() const = 0;
  // Enqueues the windows, which write every row. Does not synchronise. Throws CudaError if the launch is
  // refused. Aligned keys: `wgmma` kernels get key_blocks and no key_slots.
  virtual void launch(const WindowForwardParams& params, cudaStream_t stream) = 0;
};

}  // namespace hilbench::cuda
