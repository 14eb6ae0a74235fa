// Recalls the exponents of exponentials that fp32 does not hold. If scores are sharp, one key of a block may
// exceed all before it by far, mostly for a single row: its score alone is computed again.
#pragma once

#include <cstdint>

#include "kernels/cuda/mma/mma.cuh"
#include "kernels/cuda/shared/element.cuh"
#include "kernels/cuda/wgmma/wgmma_softmax.cuh"
#include "kernels/cuda/wgmma/wgmma_tiling.cuh"

namespace hilbench::cuda {

constexpr float kMostExponent = 0x1p20f;

// Elements of a row that a lane takes, a power of two: those of several rows are in whole chunks of 16 bytes.
template <class S>
constexpr int kPart = S::kDim <= 64    ? 2
                      : S::kDim <= 128 ? 4
                                       : 8;

// This lane's part of a row of Q or K, in blocks of 64 columns of `rows` rows. Lanes past the end of the row
// get zeros.
template <class S>
__device__ __forceinline__ void load_part(float (&part)[kPart<S>], std::uint32_t at, int rows, int row) {
  constexpr int kBytes = kPart<S> * 2;  // of a lane
  const int byte = threadIdx.x % 32 * kBytes;
  if (32 * kPart<S> != S::kDim && byte >= S::kDim * 2) {
#pragma unroll
    for (float& element : part) element = 0;
    return;
  }
  at += byte / 128 * (rows * 128) + swizzled(row, byte % 128 / 16) + byte % 16;
#pragma unroll
  for (int i = 0; i < kPart<S> / 2; ++i) {
    std::uint32_t pair;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(pair) : "r"(at + 4 * i));
    const auto* elements = reinterpret_cast<const typename S::T*>(&pair);
    part[2 * i] = widen(elements[0]);
    part[2 * i + 1] = widen(elements[1]);
  }
}

// The score, before it is scaled, of a row of Q and a row of K.
template <class S>
__device__ __forceinline__ float score_of(std::uint32_t q, int row, std::uint32_t k, int key) {
  float a[kPart<S>], b[kPart<S>];
  load_part<S>(a, q, S::kRows, row);
  load_part<S>(b, k, S::kKeys, key);
  float score = 0;
#pragma unroll
  for (int i = 0; i < kPart<S>; ++i) score = fmaf(a[i], b[i], score);
#pragma unroll
  for (int apart = 1; apart < 32; apart *= 2) score += __shfl_xor_sync(0xFFFFFFFFu, score, apart);
  return score;
}

// Finds the exponents of exponentials that fp32 does not hold: `exponent` of a row is that of this lane's
// lost exponential, or 0. False for the whole warp if a lane lost two of a row, or if an exponent is not
// finite.
template <class S>
__device__ __forceinline__ bool recall_exponents(const float (&s)[S::kKeys / 2], const float (&block_sum)[2],
                                                 const Softmax<S>& softmax, std::uint32_t q, std::uint32_t k,
                                                 float (&exponent)[2]) {
  static_assert(S::kKeys / 4 <= 32);
  const int lane = threadIdx.x % 32;
  bool simple = true;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    if (!__any_sync(0xFFFFFFFFu, !(block_sum[r] < Softmax<S>::kHeld))) continue;
    unsigned lost = 0;
#pragma unroll
    for (int i = 0; i < S::kKeys / 4; ++i)
      if (!(s[i / 2 * 4 + 2 * r + i % 2] < Softmax<S>::kHeld)) lost |= 1u << i;
    simple = simple && (lost & (lost - 1)) == 0;
    const int first = __ffs(lost) - 1;
    const int key = first / 2 * 8 + lane % 4 * 2 + first % 2;
    unsigned owners = __ballot_sync(0xFFFFFFFFu, lost != 0);
#pragma unroll 1
    for (; owners != 0; owners &= owners - 1) {
      const int owner = __ffs(owners) - 1;
      const int row = threadIdx.x / 32 % 4 * 16 + owner / 4 + 8 * r;
      const float score = score_of<S>(q, row, k, __shfl_sync(0xFFFFFFFFu, key, owner));
      if (lane == owner) exponent[r] = fmaf(score, softmax.scale_log2, -softmax.shift[r]);
    }
    simple = simple && exponent[r] < kMostExponent;
  }
  return __all_sync(0xFFFFFFFFu, simple);
}

}  // namespace hilbench::cuda
