// The rows and columns of a lane of dilated_simt.
#pragma once

#include "kernels/cuda/simt/simt_shapes.hpp"

namespace hilbench::cuda::simt {

constexpr float kLog2E = 1.4426950408889634f;
constexpr float kLn2 = 0.6931471805599453f;
constexpr unsigned kAllLanes = 0xffffffffu;

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
