// O and LSE of a lane to device memory, merged with what is there.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>

#include "kernels/cuda/shared/forward.hpp"
#include "kernels/cuda/simt/simt_products.cuh"
#include "kernels/cuda/simt/simt_softmax.cuh"

namespace hilbench::cuda::simt {

template <Dtype kDtype>
__device__ __forceinline__ void read_output(const void* o, long long at, bool o_fp32, float (&to)[4]) {
  if (kDtype == Dtype::fp32 || o_fp32) {
    read_quad(static_cast<const float*>(o) + at, to);
    return;
  }
  const uint2 words = *reinterpret_cast<const uint2*>(static_cast<const char*>(o) + at * 2);
  const unsigned pairs[2] = {words.x, words.y};
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    if constexpr (kDtype == Dtype::bf16) {
      to[2 * i] = __uint_as_float(pairs[i] << 16);
      to[2 * i + 1] = __uint_as_float(pairs[i] & 0xffff0000u);
    } else {
      const __half2 pair = *reinterpret_cast<const __half2*>(&pairs[i]);
      to[2 * i] = __low2float(pair);
      to[2 * i + 1] = __high2float(pair);
    }
  }
}

template <Dtype kDtype>
__device__ __forceinline__ unsigned pack_pair(float low, float high) {
  if constexpr (kDtype == Dtype::bf16) {
    const __nv_bfloat16 pair[2] = {__float2bfloat16(low), __float2bfloat16(high)};
    return static_cast<unsigned>(reinterpret_cast<const unsigned short&>(pair[0])) |
           static_cast<unsigned>(reinterpret_cast<const unsigned short&>(pair[1])) << 16;
  } else {
    const __half2 pair = __floats2half2_rn(low, high);
    return *reinterpret_cast<const unsigned*>(&pair);
  }
}

template <Dtype kDtype>
__device__ __forceinline__ void write_output(void* o, long long at, bool o_fp32, const float (&from)[4]) {
  if (kDtype == Dtype::fp32 || o_fp32) {
    *reinterpret_cast<float4*>(static_cast<float*>(o) + at) = make_float4(from[0], from[1], from[2], from[3]);
  } else {
    const uint2 words = {pack_pair<kDtype>(from[0], from[1]), pack_pair<kDtype>(from[2], from[3])};
    *reinterpret_cast<uint2*>(static_cast<char*>(o) + at * 2) = words;
  }
}

// Writes O and LSE of the lane's rows to memory; if the tile merges, combined with what is there: O = sum of
// softmax denominator shares times O_i (LongNet, arXiv 2307.02486, Eqs. 9-10), in log space.
template <Dtype kDtype, typename Shape>
__device__ __forceinline__ void write_rows(const ForwardParams& params, const ForwardShape& shape,
                                           const ForwardTile& tile, int first_row, int column_lane,
                                           const SoftmaxRows<Shape>& softmax,
                                           float (&o)[Shape::kRowsPerLane][4 * Shape::kQuads]) {
#pragma unroll
  for (int i = 0; i < Shape::kRowsPerLane; ++i) {
    const int row = first_row + row_offset(i);
    const float sum = across_columns(softmax.sum[i], [](float a, float b) { return a + b; });
    const bool inside = row < tile.query_count;
    const int position = tile.query_first + row * params.query_step;
    const long long head_row =
        (static_cast<long long>(tile.batch) * shape.sequence + position) * shape.heads + tile.head;
    float lse = sum > 0 ? fmaf(softmax.top[i], kLn2, logf(sum)) : -INFINITY;
    float share = sum > 0 ? 1 / sum : 0.0f, share_before = 0;
    if (tile.merge != 0) {
      const float lse_before = inside ? params.lse[head_row] : -INFINITY;
      const float most = fmaxf(lse, lse_before);
      const float origin = most == -INFINITY ? 0.0f : most;
      const float now = expf(lse - origin), before = expf(lse_before - origin);
      share *= now + before > 0 ? now / (now + before) : 0.0f;
      share_before = now + before > 0 ? before / (now + before) : 0.0f;
      lse = most == -INFINITY ? -INFINITY : most + logf(now + before);
      __syncwarp();  // all lanes of the row read the LSE before one writes it
    }
    if (!inside) continue;
    if (column_lane == 0) params.lse[head_row] = lse;
#pragma unroll
    for (int c = 0; c < Shape::kQuads; ++c) {
      const int column = (c * kColumnLanes + column_lane) * 4;
      if (column >= shape.head_dim) continue;
      const long long at = head_row * shape.head_dim + column;
      float out[4] = {o[i][4 * c] * share, o[i][4 * c + 1] * share, o[i][4 * c + 2] * share,
                      o[i][4 * c + 3] * share};
      if (share_before > 0) {
        float earlier[4];
        read_output<kDtype>(params.o, at, params.o_fp32 != 0, earlier);
#pragma unroll
        for (int x = 0; x < 4; ++x) out[x] = fmaf(earlier[x], share_before, out[x]);
      }
      write_output<kDtype>(params.o, at, params.o_fp32 != 0, out);
    }
  }
}

}  // namespace hilbench::cuda::simt
