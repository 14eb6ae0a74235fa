// Rows of one head between device memory and shared memory or registers, for the backward pass. The dtype is
// a value here, not a parameter of templates: the products are the same for all, and compile once.
#pragma once

#include <cstdint>

#include "kernels/cuda/shared/gradient.hpp"
#include "kernels/cuda/simt/simt_load.cuh"
#include "kernels/cuda/simt/simt_store.cuh"
#include "kernels/cuda/simt/simt_tiling.cuh"

namespace hilbench::cuda::simt {

// Row i is at slot first + i * step, or, with a table, at slots[first + i * step].
struct GradientRows {
  const char* base;  // column 0 of slot 0
  int stride_bytes;  // between slots
  const std::int32_t* slots;
  int first;
  int step;
  int count;

  __device__ __forceinline__ const char* row(int i) const {
    const int at = first + i * step;
    return row_address(base, slots != nullptr ? __ldg(slots + at) : at, stride_bytes);
  }
};

__device__ __forceinline__ int bytes_of(Dtype dtype) {
  return dtype == Dtype::fp32 ? 4 : 2;
}

__device__ __forceinline__ GradientRows rows_of_head(const void* tensor, Dtype dtype, int head_dim, int rows,
                                                     int heads, int batch, int head) {
  const int row_bytes = head_dim * bytes_of(dtype);
  const char* base =
      static_cast<const char*>(tensor) + (static_cast<long long>(batch) * rows * heads + head) * row_bytes;
  return {base, heads * row_bytes, nullptr, 0, 1, 0};
}

// `tensor` is q, d_o or d_q.
__device__ __forceinline__ GradientRows query_rows(const void* tensor, Dtype dtype,
                                                   const GradientParams& params, const ForwardShape& shape,
                                                   int batch, int head, int first, int count) {
  GradientRows rows = rows_of_head(tensor, dtype, shape.head_dim, shape.sequence, shape.heads, batch, head);
  rows.slots = params.q_slots, rows.first = first, rows.step = params.query_step, rows.count = count;
  return rows;
}

// `tensor` is k, v, d_k or d_v; `tile` a ForwardTile or a KeyTile.
template <class Tile>
__device__ __forceinline__ GradientRows key_rows(const void* tensor, Dtype dtype,
                                                 const GradientParams& params, const ForwardShape& shape,
                                                 const Tile& tile) {
  GradientRows rows =
      rows_of_head(tensor, dtype, shape.head_dim, params.kv_rows, shape.kv_heads, tile.batch, tile.kv_head);
  const bool gathered = params.key_slots != nullptr;
  rows.slots = params.key_slots, rows.first = gathered ? tile.key_begin : tile.key_slot;
  rows.step = gathered ? 1 : params.key_slot_step, rows.count = tile.key_count;
  return rows;
}

// Four elements as they are in memory, and as floats.
__device__ __forceinline__ uint4 load_four(Dtype dtype, const char* row, int column) {
  if (dtype == Dtype::fp32) return __ldg(reinterpret_cast<const uint4*>(row) + column / 4);
  const uint2 words = __ldg(reinterpret_cast<const uint2*>(row) + column / 4);
  return make_uint4(words.x, words.y, 0, 0);
}
__device__ __forceinline__ float4 widen_four(Dtype dtype, const uint4& from) {
  float4 to;
  if (dtype == Dtype::fp32) {
    to = make_float4(__uint_as_float(from.x), __uint_as_float(from.y), __uint_as_float(from.z),
                     __uint_as_float(from.w));
  } else if (dtype == Dtype::bf16) {
    unpack_pair<Dtype::bf16>(from.x, to.x, to.y);
    unpack_pair<Dtype::bf16>(from.y, to.z, to.w);
  } else {
    unpack_pair<Dtype::fp16>(from.x, to.x, to.y);
    unpack_pair<Dtype::fp16>(from.y, to.z, to.w);
  }
  return to;
}

// Rows warp_row .. + kWarpRows - 1, transposed: [kHeadDim][kRowPitch]; zeros past the last row and past
// head_dim. A lane reads along one row.
template <typename Shape>
__device__ __forceinline__ void load_transposed(const GradientRows& rows, Dtype dtype, int head_dim,
                                                int warp_row, int lane, float* to) {
  constexpr int kRowThreads = kWarpLanes / Shape::kWarpRows;
  const int row = lane % Shape::kWarpRows;
  const bool inside = warp_row + row < rows.count;
  const char* const from = rows.row(inside ? warp_row + row : 0);
#pragma unroll 4
  for (int column = lane / Shape::kWarpRows * 4; column < Shape::kHeadDim; column += kRowThreads * 4) {
    uint4 held = make_uint4(0, 0, 0, 0);
    if (inside && column < head_dim) held = load_four(dtype, from, column);
    const float4 values = widen_four(dtype, held);
    to[column * Shape::kRowPitch + row] = values.x;
    to[(column + 1) * Shape::kRowPitch + row] = values.y;
    to[(column + 2) * Shape::kRowPitch + row] = values.z;
    to[(column + 3) * Shape::kRowPitch + row] = values.w;
  }
}

// Moves kKeys rows to shared memory in two steps, with arithmetic between them. Rows past the last and
// columns past head_dim become zeros. A thread moves four columns of every kPassRows-th row.
template <typename Shape>
class GradientMover {
 public:
  __device__ __forceinline__ void fetch(const GradientRows& rows, Dtype dtype, int head_dim, int first) {
#pragma unroll
    for (int i = 0; i < kPasses; ++i) {
      const int row = first + own_row() + i * kPassRows;
      held_[i] = make_uint4(0, 0, 0, 0);
      if (moves(i) && row < rows.count && own_column() < head_dim)
        held_[i] = load_four(dtype, rows.row(row), own_column());
    }
  }
  __device__ __forceinline__ void deposit(Dtype dtype, float* to) const {
#pragma unroll
    for (int i = 0; i < kPasses; ++i)
      if (moves(i))
        *reinterpret_cast<float4*>(to + (own_row() + i * kPassRows) * Shape::kRowStride + own_column()) =
            widen_four(dtype, held_[i]);
  }

 private:
  static constexpr int kRowChunks = Shape::kHeadDim / 4;
  static constexpr int kPassRows = Shape::kThreads / kRowChunks;
  static constexpr int kPasses = (Shape::kKeys + kPassRows - 1) / kPassRows;
  static_assert(Shape::kThreads % kRowChunks == 0, "whole rows");

  __device__ __forceinline__ static bool moves(int pass) {
    return Shape::kKeys % kPassRows == 0 || own_row() + pass * kPassRows < Shape::kKeys;
  }

  __device__ __forceinline__ static int own_row() {
    return static_cast<int>(threadIdx.x) / kRowChunks;
  }
  __device__ __forceinline__ static int own_column() {
    return static_cast<int>(threadIdx.x) % kRowChunks * 4;
  }

  uint4 held_[kPasses];
};

// Writes the lane's rows times `factor`, or adds them to what is there. Its columns begin at `first_column`.
template <typename Shape>
__device__ __forceinline__ void write_gradients(const GradientRows& rows, Dtype dtype, int head_dim,
                                                bool adds, int first_row, int first_column, float factor,
                                                const float (&sums)[Shape::kRowsPerLane][4 * Shape::kQuads]) {
#pragma unroll
  for (int i = 0; i < Shape::kRowsPerLane; ++i) {
    const int row = first_row + row_offset(i);
    if (row >= rows.count) continue;
    char* const to = const_cast<char*>(rows.row(row));
#pragma unroll
    for (int c = 0; c < Shape::kQuads; ++c) {
      const int column = first_column + c * kColumnLanes * 4;
      if (column >= head_dim) continue;
      float out[4];
#pragma unroll
      for (int x = 0; x < 4; ++x) out[x] = sums[i][4 * c + x] * factor;
      if (adds) {
        float before[4];
        read_quad(reinterpret_cast<const float*>(to) + column, before);
#pragma unroll
        for (int x = 0; x < 4; ++x) out[x] += before[x];
      }
      if (dtype == Dtype::fp32)
        write_output<Dtype::fp32>(to, column, false, out);
      else if (dtype == Dtype::bf16)
        write_output<Dtype::bf16>(to, column, false, out);
      else
        write_output<Dtype::fp16>(to, column, false, out);
    }
  }
}

}  // namespace hilbench::cuda::simt
