// Online softmax on the scores of a consumer: masks, running maxima and sums, exponentials, and
// rounding to 16 bits.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/mma/mma.cuh"
#include "kernels/cuda/wgmma/wgmma_tiling.cuh"

namespace hilbench::cuda {

constexpr float kLog2e = 1.4426950408889634f;
constexpr float kLn2 = 0.6931471805599453f;

// Running softmax of two rows per thread (lane / 4, and 8 rows below it), in units of raw scores. Until the
// end `sum` holds only this thread's columns. `maximum` is only a common scale: the maximum of the first
// block is used until an exponential of a later block becomes large.
template <class S>
struct Softmax {
  // Limit of a thread's sum in a block: fp16 holds 2^15. bf16 reaches as far as fp32, and 2^64 leaves room
  // for sums over 2^31 keys of products with values of V up to 2^32.
  static constexpr float kLarge = std::is_same_v<typename S::T, __half> ? 0x1p15f : 0x1p64f;
  float maximum[2], sum[2], factor[2];
  float scale_log2;

  __device__ __forceinline__ static float quad_max(float x) {
    x = fmaxf(x, __shfl_xor_sync(0xFFFFFFFFu, x, 1));
    return fmaxf(x, __shfl_xor_sync(0xFFFFFFFFu, x, 2));
  }
  __device__ __forceinline__ static float quad_sum(float x) {
    x += __shfl_xor_sync(0xFFFFFFFFu, x, 1);
    return x + __shfl_xor_sync(0xFFFFFFFFu, x, 2);
  }

  // The maximum of each row of a block.
  __device__ __forceinline__ static void find_maximum(const float (&s)[S::kKeys / 2], float (&found)[2]) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float a = fmaxf(s[2 * r], s[2 * r + 1]);
      float b = fmaxf(s[4 + 2 * r], s[4 + 2 * r + 1]);
#pragma unroll
      for (int g = 2; g < S::kKeys / 8; g += 2) {
        a = fmaxf(a, fmaxf(s[4 * g + 2 * r], s[4 * g + 2 * r + 1]));
        b = fmaxf(b, fmaxf(s[4 * g + 4 + 2 * r], s[4 * g + 4 + 2 * r + 1]));
      }
      found[r] = quad_max(fmaxf(a, b));
    }
  }

  // `maximum` of a row's first block.
  __device__ __forceinline__ void start(const float (&s)[S::kKeys / 2]) {
    find_maximum(s, maximum);
  }

  // Raises `maximum` to the maximum of the scores; `factor` scales what was summed before.
  __device__ __forceinline__ void raise(const float (&s)[S::kKeys / 2]) {
    float found[2];
    find_maximum(s, found);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float before = maximum[r];
      maximum[r] = fmaxf(before, found[r]);
      // If the row has seen no key yet, its sum and O are 0.
      factor[r] = maximum[r] == -INFINITY ? 1.0f : exp2_fast((before - maximum[r]) * scale_log2);
    }
  }

  // Turns scores into exp(scores - maximum); `block_sum` becomes the sums of this thread's columns.
  __device__ __forceinline__ void exponentials(float (&s)[S::kKeys / 2], float (&block_sum)[2]) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float shift = S::kCausal && maximum[r] == -INFINITY ? 0.0f : maximum[r] * scale_log2;
      float a = 0, b = 0;
#pragma unroll
      for (int g = 0; g < S::kKeys / 8; ++g) {
        float& x = s[4 * g + 2 * r];
        float& y = s[4 * g + 2 * r + 1];
        x = fmaf(x, scale_log2, -shift);
        y = fmaf(y, scale_log2, -shift);
        x = exp2_fast(x);
        y = exp2_fast(y);
        a += x;
        b += y;
      }
      block_sum[r] = a + b;
    }
  }

  // True if a block's exponentials must be computed once more after raise(); the same for the whole warp.
  __device__ __forceinline__ bool too_large(const float (&block_sum)[2]) const {
    bool is = !(block_sum[0] < kLarge && block_sum[1] < kLarge);
    if constexpr (S::kCausal) is = is || maximum[0] == -INFINITY || maximum[1] == -INFINITY;
    return __any_sync(0xFFFFFFFFu, is);
  }
};

template <class S>
__device__ __forceinline__ void pack_scores(std::uint32_t (&p)[S::kKeys / 4],
                                            const float (&s)[S::kKeys / 2]) {
#pragma unroll
  for (int i = 0; i < S::kKeys / 4; ++i) p[i] = pack<typename S::T>(s[2 * i], s[2 * i + 1]);
}

// Sets the scores of keys that a row does not see to -infinity. `begin` is the first key of the block;
// without a table of positions, each of a thread's two rows sees the keys below its `limit`.
template <class S>
__device__ __forceinline__ void mask_scores(float (&s)[S::kKeys / 2], const KernelParams& p,
                                            const ForwardTile& tile, int begin, const int (&limit)[2],
                                            int row_position) {
  const int column = begin + threadIdx.x % 4 * 2;
  if (S::kCausal && p.key_positions != nullptr) {
    const std::int32_t* positions = p.key_positions + tile.key_begin;
    const int key_count = tile.key_count;
#pragma unroll
    for (int i = 0; i < S::kKeys / 4; ++i) {
      const int key = column + i / 2 * 8 + i % 2;
      const int position = key < key_count ? positions[key] : 0x7FFFFFFF;
      if (position > row_position) s[i / 2 * 4 + i % 2] = -INFINITY;
      if (key >= key_count || position > row_position + 8 * p.query_step)
        s[i / 2 * 4 + 2 + i % 2] = -INFINITY;
    }
  } else {
#pragma unroll
    for (int i = 0; i < S::kKeys / 2; ++i) {
      if (column + i / 4 * 8 + i % 2 >= limit[i / 2 % 2]) s[i] = -INFINITY;
    }
  }
}

}  // namespace hilbench::cuda
