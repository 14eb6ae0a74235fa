// Finds the exponents of exponentials that fp32 does not hold. If scores are sharp, one key of a block may
// exceed all before it by far, mostly for a single row: its score alone is computed again.
#pragma once

#include <cstdint>

#include "kernels/cuda/mma/mma.cuh"
#include "kernels/cuda/shared/element.cuh"
#include "kernels/cuda/wgmma/wgmma_softmax.cuh"
#include "kernels/cuda/wgmma/wgmma_tiling.cuh"

namespace hilbench::cuda {

// Beyond this many in a warp, the products of the whole block take less time.
constexpr int kMostRecalled = 8;
constexpr float kMostExponent = 0x1p20f;

// This lane's part of a row of Q or K, in blocks of 64 columns of `rows` rows.
template <class S>
__device__ __forceinline__ void load_part(float (&part)[S::kDim / 32], std::uint32_t at, int rows, int row) {
  constexpr int kBytes = S::kDim / 16;  // of a lane
  const int byte = threadIdx.x % 32 * kBytes;
  at += byte / 128 * (rows * 128) + swizzled(row, byte % 128 / 16) + byte % 16;
#pragma unroll
  for (int i = 0; i < S::kDim / 64; ++i) {
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
  float a[S::kDim / 32], b[S::kDim / 32];
  load_part<S>(a, q, S::kRows, row);
  load_part<S>(b, k, S::kKeys, key);
  float score = 0;
#pragma unroll
  for (int i = 0; i < S::kDim / 32; ++i) score = fmaf(a[i], b[i], score);
#pragma unroll
  for (int apart = 1; apart < 32; apart *= 2) score += __shfl_xor_sync(0xFFFFFFFFu, score, apart);
  return score;
}

// Puts into `s`, in the place of each exponential that fp32 does not hold, its exponent, negated: no
// exponential is negative. False for the whole warp if there are too many, or if one is not finite; `s` is of
// no use then.
template <class S>
__device__ __forceinline__ bool recall_exponents(float (&s)[S::kKeys / 2], const Softmax<S>& softmax,
                                                 std::uint32_t q, std::uint32_t k) {
  static_assert(S::kKeys / 2 <= 64);
  std::uint64_t lost = 0;
#pragma unroll
  for (int i = 0; i < S::kKeys / 2; ++i)
    if (!(s[i] < Softmax<S>::kHeld)) lost |= std::uint64_t{1} << i;
  if (__reduce_add_sync(0xFFFFFFFFu, __popcll(lost)) > kMostRecalled) return false;
  const int lane = threadIdx.x % 32;
  bool finite = true;
#pragma unroll 1
  while (const unsigned lanes = __ballot_sync(0xFFFFFFFFu, lost != 0)) {
    const int owner = __ffs(lanes) - 1;
    const int i = __shfl_sync(0xFFFFFFFFu, __ffsll(lost) - 1, owner);
    const int row = threadIdx.x / 32 % 4 * 16 + owner / 4 + i / 2 % 2 * 8;
    const float score = score_of<S>(q, row, k, i / 4 * 8 + owner % 4 * 2 + i % 2);
    if (lane == owner) {
      lost &= lost - 1;
      const float shift = i / 2 % 2 == 0 ? softmax.shift[0] : softmax.shift[1];
      const float exponent = fmaf(score, softmax.scale_log2, -shift);
      finite = finite && exponent < kMostExponent;
#pragma unroll
      for (int j = 0; j < S::kKeys / 2; ++j)
        if (j == i) s[j] = -exponent;
    }
  }
  return __all_sync(0xFFFFFFFFu, finite);
}

}  // namespace hilbench::cuda
