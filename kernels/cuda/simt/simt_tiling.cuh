// Sizes of a block of dilated_simt, and the rows and columns of a lane.
#pragma once

namespace hilbench::cuda::simt {

constexpr int kWarpLanes = 32;
constexpr int kRowLanes = 4;
constexpr int kColumnLanes = 8;
constexpr float kLog2E = 1.4426950408889634f;
constexpr float kLn2 = 0.6931471805599453f;
constexpr unsigned kAllLanes = 0xffffffffu;

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

// Row i of a lane, counted from its row 0.
__device__ __forceinline__ constexpr int row_offset(int i) {
  return i / 4 * 4 * kRowLanes + i % 4;
}

// Bits 0, 2 and 3 of the lane give its column, bits 1 and 4 its row. Lanes that differ in bit 0
// alone have the same rows, lanes that differ in bit 1 alone the same columns, so that neighbours
// load the same 16 bytes.
__device__ __forceinline__ int row_lane_of(int lane) {
  return (lane >> 1 & 1) | (lane >> 3 & 2);
}
__device__ __forceinline__ int column_lane_of(int lane) {
  return (lane & 1) | (lane >> 1 & 6);
}

template <typename Combine>
__device__ __forceinline__ float across_columns(float x, Combine combine) {
  x = combine(x, __shfl_xor_sync(kAllLanes, x, 1));
  x = combine(x, __shfl_xor_sync(kAllLanes, x, 4));
  return combine(x, __shfl_xor_sync(kAllLanes, x, 8));
}

}  // namespace hilbench::cuda::simt
