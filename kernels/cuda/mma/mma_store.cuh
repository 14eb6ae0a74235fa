// How dilated_mma writes O and LSE, or merges them with those in memory.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/mma/mma.cuh"
#include "kernels/cuda/mma/mma_keys.cuh"
#include "kernels/cuda/mma/mma_softmax.cuh"
#include "kernels/cuda/mma/mma_tiling.cuh"
#include "kernels/cuda/mma/mma_windows.cuh"
#include "kernels/cuda/shared/element.cuh"
#include "kernels/cuda/shared/window_kernel.hpp"

namespace hilbench::cuda {

// Exchanges values of two neighbouring column tiles of a row between lanes. Each lane then holds four
// neighbouring columns: an even lane of the first tile, an odd lane of the second.
__device__ __forceinline__ float4 join_columns(float first0, float first1, float second0, float second1,
                                               int lane) {
  const bool odd = (lane & 1) != 0;
  const float other0 = __shfl_xor_sync(0xffffffff, odd ? first0 : second0, 1);
  const float other1 = __shfl_xor_sync(0xffffffff, odd ? first1 : second1, 1);
  return odd ? make_float4(other0, other1, second0, second1) : make_float4(first0, first1, other0, other1);
}

template <class T>
__device__ __forceinline__ float4 load_four(const T* source) {
  return make_float4(widen(source[0]), widen(source[1]), widen(source[2]), widen(source[3]));
}
template <>
__device__ __forceinline__ float4 load_four<float>(const float* source) {
  return *reinterpret_cast<const float4*>(source);
}

template <class T>
__device__ __forceinline__ void store_four(T* target, float4 value) {
  *reinterpret_cast<uint2*>(target) = make_uint2(pack<T>(value.x, value.y), pack<T>(value.z, value.w));
}
template <>
__device__ __forceinline__ void store_four<float>(float* target, float4 value) {
  *reinterpret_cast<float4*>(target) = value;
}

// The weights of the result in memory and of the tile's result, and the LSE of both together (LongNet, arXiv
// 2307.02486, Eqs. 9-10, in log space).
struct Blend {
  float old_weight;
  float new_weight;
  float lse;
};

__device__ __forceinline__ Blend blend(float old_lse, float new_lse) {
  const float max = fmaxf(old_lse, new_lse);
  if (max == kMinusInfinity) return {0, 0, kMinusInfinity};
  const float old_part = expf(old_lse - max);
  const float new_part = expf(new_lse - max);
  const float sum = old_part + new_part;
  return {old_part / sum, new_part / sum, max + logf(sum)};
}

template <Rows kRowMap>
using ParamsOf = std::conditional_t<kRowMap == Rows::windows, WindowForwardParams, ForwardParams>;

// Writes O and LSE of a thread's rows. U is the type of O in memory.
template <class Tile, Rows kRowMap, class U>
__device__ __forceinline__ void write_rows(const Output<Tile>& o, const RowState<Tile>& state,
                                           const ForwardShape& shape, const ParamsOf<kRowMap>& params,
                                           const ForwardTile& tile, int first_row, int lane) {
#pragma unroll
  for (int m = 0; m < Tile::kRowTiles; ++m)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float sum = state.sum[m][h];
      sum += __shfl_xor_sync(0xffffffff, sum, 1);
      sum += __shfl_xor_sync(0xffffffff, sum, 2);
      float lse = sum == 0 ? kMinusInfinity : state.max[m][h] * params.scale + logf(sum);
      float weight = sum == 0 ? 0 : 1 / sum;
      float old_weight = 0;
      const int query = first_row + m * 16 + h * 8 + lane / 4;
      const bool write = query < tile.query_count;
      std::int64_t position = tile.query_first + static_cast<std::int64_t>(query) * params.query_step;
      if constexpr (kRowMap == Rows::windows)
        position = row_of_query(params.windows, tile, min(query, tile.query_count - 1));
      const std::int64_t row =
          (tile.batch * static_cast<std::int64_t>(shape.sequence) + position) * shape.heads + tile.head;
      if (kRowMap != Rows::windows && tile.merge != 0 && write) {
        const Blend parts = blend(params.lse[row], lse);
        weight *= parts.new_weight;
        old_weight = parts.old_weight;
        lse = parts.lse;
      }
      U* target = static_cast<U*>(params.o) + row * Tile::kHeadDim + (lane & 1) * 8 + (lane & 2) * 2;
#pragma unroll
      for (int n = 0; n < Tile::kHeadDim / 8; n += 2) {
        float4 value = join_columns(o[m][n][2 * h] * weight, o[m][n][2 * h + 1] * weight,
                                    o[m][n + 1][2 * h] * weight, o[m][n + 1][2 * h + 1] * weight, lane);
        if (!write) continue;
        if (kRowMap != Rows::windows && tile.merge != 0) {
          const float4 old = load_four(target + n * 8);
          value = make_float4(value.x + old_weight * old.x, value.y + old_weight * old.y,
                              value.z + old_weight * old.z, value.w + old_weight * old.w);
        }
        store_four(target + n * 8, value);
      }
      // All lanes of a row have read the old LSE before one of them writes the new.
      __syncwarp();
      if (write && (lane & 3) == 0) params.lse[row] = lse;
    }
}

}  // namespace hilbench::cuda
