// The two products of a warp: outer products in registers, fed from shared memory.
#pragma once

#include "kernels/cuda/simt/simt_tiling.cuh"

namespace hilbench::cuda::simt {

__device__ __forceinline__ float exp2_fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ void read_quad(const float* from, float (&to)[4]) {
  const float4 quad = *reinterpret_cast<const float4*>(from);
  to[0] = quad.x, to[1] = quad.y, to[2] = quad.z, to[3] = quad.w;
}

// The lane's values of one line of a transposed array, [kWarpRows].
template <int kCount>
__device__ __forceinline__ void read_rows(const float* line, float (&to)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; i += 4) {
    const float4 quad = *reinterpret_cast<const float4*>(line + i * kRowLanes);
    to[i] = quad.x, to[i + 1] = quad.y, to[i + 2] = quad.z, to[i + 3] = quad.w;
  }
}

// Scores of the lane's rows of Q and its keys of the block. The operands of the next step are read before the
// products of this one; the last reads are past the arrays and are not used.
template <typename Shape>
__device__ __forceinline__ void multiply_keys(const float* q, const float* k,
                                              float (&s)[Shape::kRowsPerLane][Shape::kKeysPerLane]) {
  constexpr int kRowsPerLane = Shape::kRowsPerLane, kKeysPerLane = Shape::kKeysPerLane;
  float a[2][kRowsPerLane], b[2][kKeysPerLane][4];
  read_rows(q, a[0]);
#pragma unroll
  for (int j = 0; j < kKeysPerLane; ++j) {
    read_quad(k + j * kColumnLanes * Shape::kRowStride, b[0][j]);
#pragma unroll
    for (int i = 0; i < kRowsPerLane; ++i) s[i][j] = 0;
  }
#pragma unroll 1
  for (int d = 0; d < Shape::kHeadDim; d += 8) {
#pragma unroll
    for (int step = 0; step < 8; ++step) {
      const int half = step / 4, e = step % 4;
      read_rows(q + (d + step + 1) * Shape::kRowPitch, a[(step + 1) % 2]);
#pragma unroll
      for (int j = e * kKeysPerLane / 4; j < (e + 1) * kKeysPerLane / 4; ++j)
        read_quad(k + j * kColumnLanes * Shape::kRowStride + d + 4 * half + 4, b[1 - half][j]);
#pragma unroll
      for (int j = 0; j < kKeysPerLane; ++j)
#pragma unroll
        for (int t = 0; t < kRowsPerLane; ++t) {
          const int i = j % 2 == 0 ? t : kRowsPerLane - 1 - t;
          s[i][j] = fmaf(a[step % 2][i], b[half][j][e], s[i][j]);
        }
    }
  }
}

// Adds the lane's rows of the weights times its columns of V to o; reads ahead in the same way.
template <typename Shape>
__device__ __forceinline__ void multiply_values(const float* weights, const float* v,
                                                float (&o)[Shape::kRowsPerLane][4 * Shape::kQuads]) {
  constexpr int kRowsPerLane = Shape::kRowsPerLane;
  float a[2][kRowsPerLane], b[2][Shape::kQuads][4];
  const auto read = [&](int key, float(&weight)[kRowsPerLane], float(&value)[Shape::kQuads][4]) {
    read_rows(weights + key * Shape::kWeightStride, weight);
#pragma unroll
    for (int c = 0; c < Shape::kQuads; ++c)
      read_quad(v + key * Shape::kRowStride + c * kColumnLanes * 4, value[c]);
  };
  read(0, a[0], b[0]);
#pragma unroll 1
  for (int key = 0; key < Shape::kKeys; key += 2) {
#pragma unroll
    for (int step = 0; step < 2; ++step) {
      read(key + step + 1, a[(step + 1) % 2], b[(step + 1) % 2]);
#pragma unroll
      for (int x = 0; x < 4 * Shape::kQuads; ++x)
#pragma unroll
        for (int t = 0; t < kRowsPerLane; ++t) {
          const int i = x % 2 == 0 ? t : kRowsPerLane - 1 - t;
          o[i][x] = fmaf(a[step % 2][i], b[step % 2][x / 4][x % 4], o[i][x]);
        }
    }
  }
}

// Stores the weights of the lane in their transposed array.
template <typename Shape>
__device__ __forceinline__ void hand_over(const float (&s)[Shape::kRowsPerLane][Shape::kKeysPerLane],
                                          float* weights) {
#pragma unroll
  for (int j = 0; j < Shape::kKeysPerLane; ++j)
#pragma unroll
    for (int i = 0; i < Shape::kRowsPerLane; i += 4)
      *reinterpret_cast<float4*>(weights + j * kColumnLanes * Shape::kWeightStride + i * kRowLanes) =
          make_float4(s[i][j], s[i + 1][j], s[i + 2][j], s[i + 3][j]);
}

}  // namespace hilbench::cuda::simt
