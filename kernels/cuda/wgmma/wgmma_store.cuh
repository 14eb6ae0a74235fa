// Writes O and LSE of a consumer's rows to device memory, merged with the result of earlier branches.
#pragma once

#include <cstdint>

#include "kernels/cuda/mma/mma.cuh"
#include "kernels/cuda/wgmma/wgmma_softmax.cuh"
#include "kernels/cuda/wgmma/wgmma_tiling.cuh"

namespace hilbench::cuda {

template <typename T>
__device__ __forceinline__ float2 unpack(std::uint32_t packed);
template <>
__device__ __forceinline__ float2 unpack<__nv_bfloat16>(std::uint32_t packed) {
  return make_float2(__uint_as_float(packed << 16), __uint_as_float(packed & 0xFFFF0000u));
}
template <>
__device__ __forceinline__ float2 unpack<__half>(std::uint32_t packed) {
  return __half22float2(*reinterpret_cast<const __half2*>(&packed));
}

// Transposes 4 x 4 words of four neighbouring lanes: lane l gets word l of each lane, in the order of lanes.
__device__ __forceinline__ void transpose_quad(std::uint32_t (&x)[4]) {
  const bool odd = (threadIdx.x & 1) != 0;
  const bool high = (threadIdx.x & 2) != 0;
#pragma unroll
  for (int i = 0; i < 4; i += 2) {
    const std::uint32_t got = __shfl_xor_sync(0xFFFFFFFFu, odd ? x[i] : x[i + 1], 1);
    (odd ? x[i] : x[i + 1]) = got;
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const std::uint32_t got = __shfl_xor_sync(0xFFFFFFFFu, high ? x[i] : x[i + 2], 2);
    (high ? x[i] : x[i + 2]) = got;
  }
}

// Writes 16 rows of O of this warp to shared memory, as tma_store() wants them: from row `first` of a stage
// of Q on.
template <class S>
__device__ __forceinline__ void stage_rows(std::uint32_t stage, int first, const float (&o)[S::kDim / 2],
                                           float upper, float lower) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int g = 0; g < S::kDim / 8; g += 2) {
    std::uint32_t words[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float weight = i % 2 == 0 ? upper : lower;
      words[i] = pack<typename S::T>(o[4 * g + 2 * i] * weight, o[4 * g + 2 * i + 1] * weight);
    }
    store_matrices(stage + g / 8 * (S::kRows * 128) + swizzled(first + lane % 16, g % 8 + lane / 16), words);
  }
}

// Writes O and LSE of row `r` (0 or 1) of a thread.
template <class S>
__device__ __forceinline__ void store_row(const KernelParams& p, std::int64_t row, bool valid, bool merge,
                                          float (&o)[S::kDim / 2], RowEnd end, int r) {
  const int quad = threadIdx.x % 4;
  auto [lse, weight] = end;
  float weight_before = 0;
  if (merge) {
    const float before = valid ? p.lse[row] : -INFINITY;
    const float top = fmaxf(before, lse);
    if (top != -INFINITY) {
      const float share_before = exp2_fast((before - top) * kLog2e);
      const float share = exp2_fast((lse - top) * kLog2e);
      lse = top + __log2f(share_before + share) * kLn2;
      weight_before = share_before / (share_before + share);
      weight *= share / (share_before + share);
    }
    __syncwarp();
  }
  if (valid && quad == 0) p.lse[row] = lse;
  const int columns = head_dim<S>(p);
  if (p.o_fp32 != 0) {
    float* target = static_cast<float*>(p.o) + row * columns + quad * 2;
    constexpr int kInFlight = 8;  // loads before the first store: the compiler must assume the same memory
#pragma unroll
    for (int first = 0; first < S::kDim / 8; first += kInFlight) {
      const auto holds = [&](int i) {
        return !S::kPadded || (first + i < S::kDim / 8 && 8 * (first + i) < columns);
      };
      float2 before[kInFlight] = {};
      if (merge && valid) {
#pragma unroll
        for (int i = 0; i < kInFlight; ++i)
          if (holds(i)) before[i] = *reinterpret_cast<const float2*>(target + 8 * (first + i));
      }
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) {
        if (!holds(i)) continue;
        const int at = 4 * (first + i) + 2 * r;
        const float2 x = make_float2(fmaf(before[i].x, weight_before, o[at] * weight),
                                     fmaf(before[i].y, weight_before, o[at + 1] * weight));
        if (valid) *reinterpret_cast<float2*>(target + 8 * (first + i)) = x;
      }
    }
    return;
  }
  auto* target = static_cast<typename S::T*>(p.o) + row * columns;
#pragma unroll
  for (int g = 0; g < S::kDim / 8; g += 4) {
    std::uint32_t words[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      words[i] = 0;
      if (S::kPadded && (g + i >= S::kDim / 8 || 8 * (g + i) >= columns)) continue;
      float x = o[4 * (g + i) + 2 * r] * weight;
      float y = o[4 * (g + i) + 2 * r + 1] * weight;
      if (merge && valid) {
        const float2 before =
            unpack<typename S::T>(*reinterpret_cast<const std::uint32_t*>(target + 8 * (g + i) + quad * 2));
        x = fmaf(before.x, weight_before, x);
        y = fmaf(before.y, weight_before, y);
      }
      words[i] = pack<typename S::T>(x, y);
    }
    transpose_quad(words);
    if (valid && (!S::kPadded || 8 * (g + quad) < columns)) {
      *reinterpret_cast<uint4*>(target + 8 * (g + quad)) = make_uint4(words[0], words[1], words[2], words[3]);
    }
  }
}

}  // namespace hilbench::cuda
