// Sizes of the blocks of dilated_simt, and which of them a GPU runs. For device code and for the host.
#pragma once

namespace hilbench::cuda::simt {

constexpr int kWarpLanes = 32;
constexpr int kRowLanes = 4;
constexpr int kColumnLanes = 8;

// Sizes of a block of the kernel. head_dim is rounded up to kHeadDim with zeros. With kTwoBuffers the next
// keys or values are fetched into shared memory during the product before; else keys and values use the same
// buffer in turn.
template <int kHeadDim_, int kRowsPerLane_, int kKeysPerLane_, int kWarps_, bool kTwoBuffers_,
          int kBlocksPerSm_>
struct TileShape {
  static constexpr int kHeadDim = kHeadDim_;
  static constexpr int kRowsPerLane = kRowsPerLane_;
  static constexpr int kKeysPerLane = kKeysPerLane_;
  static constexpr bool kTwoBuffers = kTwoBuffers_;
  static constexpr int kBlocksPerSm = kBlocksPerSm_;
  static constexpr int kThreads = kWarps_ * kWarpLanes;
  static constexpr int kWarpRows = kRowLanes * kRowsPerLane;
  static constexpr int kRowPitch = kWarpRows;  // floats, of a line of transposed rows
  static constexpr int kRows = kWarps_ * kWarpRows;
  static constexpr int kKeys = kColumnLanes * kKeysPerLane;     // of one block of keys
  static constexpr int kQuads = kHeadDim / (kColumnLanes * 4);  // groups of 4 output columns of a lane
  static constexpr int kRowStride = kHeadDim + 4;               // floats, of K and V in shared memory
  static constexpr int kWeightStride = kWarpRows + 8;           // floats, of a key's weights
  static constexpr int kWeights = (kWarps_ * kKeys + 1) * kWeightStride;  // one line is read, never used
  static constexpr int kSharedBytes =
      (kRows * kHeadDim + (kTwoBuffers ? 2 : 1) * kKeys * kRowStride + kWeights) * 4;
  static_assert(kQuads * kColumnLanes * 4 == kHeadDim && kRowsPerLane % 4 == 0);
};

// head_dim, rows and keys of a lane, warps, two buffers, blocks on a multiprocessor
using Small64 = TileShape<64, 8, 4, 2, true, 4>;
using Small128 = TileShape<128, 4, 4, 2, false, 2>;
using Large64 = TileShape<64, 8, 8, 4, true, 2>;
using Large128 = TileShape<128, 8, 4, 8, true, 1>;
using Large256 = TileShape<256, 4, 4, 4, true, 1>;

// The most shared memory of a block on the devices that run code for `architecture` (610, 800...); that code
// leaves out shapes that need more.
constexpr int most_shared_bytes(int architecture) {
  return architecture < 800 ? 48 * 1024 : 227 * 1024;
}

// True if the current device gives a block this much shared memory, and the code that this build has for it
// uses as much. True if there is no device here (a plan for another machine). Creates no context.
bool runs_here(int shared_bytes);

// Calls visit(Shape()) for the shape that the current device runs for head_dim 8, 16 .. 256; gives `none` if
// there is no such shape.
template <class Result, class Visit>
Result visit_shape(int head_dim, Result none, Visit visit) {
  if (head_dim < 8 || head_dim > 256 || head_dim % 8 != 0) return none;
  if (head_dim > 128) return runs_here(Large256::kSharedBytes) ? visit(Large256()) : none;
  if (head_dim > 64) {
    if (runs_here(Large128::kSharedBytes)) return visit(Large128());
    return runs_here(Small128::kSharedBytes) ? visit(Small128()) : none;
  }
  if (runs_here(Large64::kSharedBytes)) return visit(Large64());
  return runs_here(Small64::kSharedBytes) ? visit(Small64()) : none;
}

}  // namespace hilbench::cuda::simt
