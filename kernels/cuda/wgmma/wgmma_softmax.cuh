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

// What the end of a row needs to know: its LSE, and the factor of its O.
struct RowEnd {
  float lse;
  float weight;
};

// Windows: which of a thread's scores are of keys that its rows see, as bits (MaskLayout::wgmma).
struct SeenKeys {
  std::uint32_t words[2];

  // Hides from the compiler that several places test the same bits. It would keep the results, one by one,
  // since predicates cannot hold 64 of them; so each place moves seven bits at a time into predicates (R2P).
  __device__ __forceinline__ explicit SeenKeys(const uint2& bits) : words{bits.x, bits.y} {
    asm volatile("" : "+r"(words[0]), "+r"(words[1]));
  }
  __device__ __forceinline__ bool operator()(int i) const { return (words[i / 32] & (1u << (i % 32))) != 0; }
};

// Running softmax of two rows per thread (lane / 4, and 8 rows below it): exponentials are 2^(score *
// scale_log2 - shift). Until the end `sum` holds only this thread's columns. `shift` is no running maximum:
// the first block chooses it, and it stays until an exponential of a later block becomes large. Even then the
// scores are seldom needed again, since exponentials that fp32 holds are scaled by a power of two.
template <class S>
struct Softmax {
  static constexpr bool kHalf = std::is_same_v<typename S::T, __half>;
  // Limit of a thread's sum in a block: fp16 holds 2^15. bf16 reaches as far as fp32, and 2^64 leaves room
  // for sums over 2^31 keys of products with values of V up to 2^32.
  static constexpr float kLarge = kHalf ? 0x1p15f : 0x1p64f;
  // Where scores reach kSharp, later ones may be much larger, so bf16 exponentials begin at 2^-kBelow: it has
  // as much room below. What is lost is 2^-62 of the first block's maximum, and values of V below 2^-62; and
  // the exponents are rounded to 2^-18, as coarsely as LSE itself is by then.
  static constexpr float kSharp = 32;
  static constexpr int kBelow = kHalf ? 0 : 64;
  static constexpr float kHeld = 0x1p126f;  // sums of a row below it are of finite exponentials
  static constexpr int kMostShrink = 126;   // 2^-126 is the smallest normal number
  float shift[2], sum[2], factor[2];
  float scale_log2;

  __device__ __forceinline__ static float quad_max(float x) {
    x = fmaxf(x, __shfl_xor_sync(0xFFFFFFFFu, x, 1));
    return fmaxf(x, __shfl_xor_sync(0xFFFFFFFFu, x, 2));
  }
  __device__ __forceinline__ static float quad_sum(float x) {
    x += __shfl_xor_sync(0xFFFFFFFFu, x, 1);
    return x + __shfl_xor_sync(0xFFFFFFFFu, x, 2);
  }

  // Rows that see no key.
  __device__ __forceinline__ void start_empty() {
    shift[0] = shift[1] = -INFINITY;
    sum[0] = sum[1] = 0;
  }

  // `shift` of each row if a block with these scores came first.
  __device__ __forceinline__ void find_shift(const float (&s)[S::kKeys / 2], float (&found)[2]) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float a = fmaxf(s[2 * r], s[2 * r + 1]);
      float b = fmaxf(s[4 + 2 * r], s[4 + 2 * r + 1]);
#pragma unroll
      for (int g = 2; g < S::kKeys / 8; g += 2) {
        a = fmaxf(a, fmaxf(s[4 * g + 2 * r], s[4 * g + 2 * r + 1]));
        b = fmaxf(b, fmaxf(s[4 * g + 4 + 2 * r], s[4 * g + 4 + 2 * r + 1]));
      }
      found[r] = shift_of(quad_max(fmaxf(a, b)));
    }
  }

  // The same of scores that are not masked.
  __device__ __forceinline__ void find_shift(const float (&s)[S::kKeys / 2], const uint2& bits,
                                             float (&found)[2]) const {
    // The bytes rotated, so that these are other tests than those of exponentials().
    const SeenKeys seen({__byte_perm(bits.x, 0, 0x2103), __byte_perm(bits.y, 0, 0x2103)});
    float most[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
#pragma unroll
    for (int i = 0; i < S::kKeys / 2; ++i)
      if (seen(i / 32 * 32 + (i + 8) % 32)) most[i % 4] = fmaxf(most[i % 4], s[i]);
#pragma unroll
    for (int r = 0; r < 2; ++r) found[r] = shift_of(quad_max(fmaxf(most[2 * r], most[2 * r + 1])));
  }

  // The first block of keys.
  __device__ __forceinline__ void start(float (&s)[S::kKeys / 2]) {
    find_shift(s, shift);
    exponentials(s, sum);
  }
  __device__ __forceinline__ void start(float (&s)[S::kKeys / 2], const uint2& bits) {
    find_shift(s, bits, shift);
    exponentials(s, sum, bits);
  }

  // Windows: rows that have seen no key before this block choose `shift` now; their sum and O are 0.
  __device__ __forceinline__ void start_rows(const float (&s)[S::kKeys / 2], const uint2& bits) {
    if (!__any_sync(0xFFFFFFFFu, shift[0] == -INFINITY || shift[1] == -INFINITY)) return;
    float found[2];
    find_shift(s, bits, found);
#pragma unroll
    for (int r = 0; r < 2; ++r) shift[r] = shift[r] == -INFINITY ? found[r] : shift[r];
  }

  // Raises `shift` as the scores want it; `factor` scales what was summed before.
  __device__ __forceinline__ void raise(const float (&s)[S::kKeys / 2]) {
    float found[2];
    find_shift(s, found);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float before = shift[r];
      const float rise = fmaxf(before, found[r]) - before;
      // Of a row that rises because another row of the warp must: sums before this block may be 2^64, and a
      // factor below 2^-126 would be 0. Where a row must rise, what was summed before is lost beside it.
      shift[r] =
          rise > kMostShrink && rise <= kMostShrink + kBelow ? before + kMostShrink : fmaxf(before, found[r]);
      // If the row has seen no key yet, its sum and O are 0.
      factor[r] = shift[r] == -INFINITY ? 1.0f : exp2_fast(before - shift[r]);
    }
  }

  // Raises `shift` of rows with large exponentials by a whole number, which scales them exactly. `factor`
  // scales what was summed before. `exponent` of a row is that of this lane's exponential that fp32 does not
  // hold, or 0.
  __device__ __forceinline__ void shrink(float (&s)[S::kKeys / 2], float (&block_sum)[2],
                                         const float (&exponent)[2]) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float largest = quad_max(block_sum[r]);  // by all lanes, whatever row they hold
      const float most = S::kRecalls ? quad_max(exponent[r]) : 0.0f;
      const int by = most > 0 ? static_cast<int>(ceilf(most)) + kBelow : power_of(largest);
      factor[r] = 1;
      if (!__any_sync(0xFFFFFFFFu, by != 0)) continue;
      const int first = min(by, kMostShrink);
      const float half = power_of_two(-first);
      const float rest = by - first > kMostShrink ? 0.0f : power_of_two(first - by);
      const float recalled = exp2_fast(exponent[r] - static_cast<float>(by));
      factor[r] = half * rest;
      shift[r] += static_cast<float>(by);
      float total = 0;
#pragma unroll
      for (int i = 0; i < S::kKeys / 4; ++i) {
        float& x = s[i / 2 * 4 + 2 * r + i % 2];
        const float scaled = S::kRecalls ? x * half * rest : x * half;
        x = S::kRecalls && !(x < kHeld) ? recalled : scaled;
        total += x;
      }
      block_sum[r] = total;
    }
  }

  // Turns scores into exponentials; `block_sum` becomes the sums of this thread's columns.
  __device__ __forceinline__ void exponentials(float (&s)[S::kKeys / 2], float (&block_sum)[2]) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float by = (S::kCausal || S::kWindows) && shift[r] == -INFINITY ? 0.0f : shift[r];
      float a = 0, b = 0;
#pragma unroll
      for (int g = 0; g < S::kKeys / 8; ++g) {
        float& x = s[4 * g + 2 * r];
        float& y = s[4 * g + 2 * r + 1];
        x = fmaf(x, scale_log2, -by);
        y = fmaf(y, scale_log2, -by);
        x = exp2_fast(x);
        y = exp2_fast(y);
        a += x;
        b += y;
      }
      block_sum[r] = a + b;
    }
  }

  // Windows: the same for scores that are not masked. The exponential of a key that a row does not see
  // becomes 0, whatever the score is: so masks are applied while the unit of exponentials is busy, which
  // waits for none.
  __device__ __forceinline__ void exponentials(float (&s)[S::kKeys / 2], float (&block_sum)[2],
                                               const uint2& bits) const {
    const SeenKeys seen(bits);
    const float by[2] = {shift[0] == -INFINITY ? 0.0f : shift[0], shift[1] == -INFINITY ? 0.0f : shift[1]};
    float sums[4] = {};
#pragma unroll
    for (int i = 0; i < S::kKeys / 2; ++i) {
      s[i] = exp2_fast(fmaf(s[i], scale_log2, -by[i / 2 % 2]));
      if (!seen(i)) s[i] = 0;
      sums[i % 4] += s[i];
    }
    block_sum[0] = sums[0] + sums[1];
    block_sum[1] = sums[2] + sums[3];
  }

  // Adds a block's sum to that of the blocks before.
  __device__ __forceinline__ void add(const float (&block_sum)[2]) {
    sum[0] += block_sum[0];
    sum[1] += block_sum[1];
  }

  // Scales by `factor` what was summed before: the sum, and O.
  __device__ __forceinline__ void scale(float (&o)[S::kDim / 2]) {
    sum[0] *= factor[0];
    sum[1] *= factor[1];
#pragma unroll
    for (int i = 0; i < S::kDim / 2; ++i) o[i] *= factor[i / 2 % 2];
  }

  // The end of row `r`.
  __device__ __forceinline__ RowEnd end(int r) const {
    const float whole = quad_sum(sum[r]);
    if (whole == 0) return {-INFINITY, 0};
    return {(shift[r] + __log2f(whole)) * kLn2, 1.0f / whole};
  }

  // True if `shift` is too low for a block's exponentials; the same for the whole warp.
  __device__ __forceinline__ bool too_large(const float (&block_sum)[2]) const {
    return any_from(block_sum, kLarge);
  }
  // True if fp32 does not hold some of them, or if a row has seen no key before.
  __device__ __forceinline__ bool lost(const float (&block_sum)[2]) const {
    return any_from(block_sum, kHeld);
  }

  // True if a row of this thread has seen no key yet.
  __device__ __forceinline__ bool unseen() const {
    return S::kCausal && __any_sync(0xFFFFFFFFu, shift[0] == -INFINITY || shift[1] == -INFINITY);
  }

 private:
  // `shift` of a row whose largest score this is.
  __device__ __forceinline__ float shift_of(float score) const {
    const float largest = score * scale_log2;
    return largest < kSharp ? largest : largest + static_cast<float>(kBelow);
  }
  __device__ __forceinline__ static float power_of_two(int x) {
    return __int_as_float((127 + x) << 23);
  }
  // By which power of two a row shrinks whose largest sum of a block this is.
  __device__ __forceinline__ static int power_of(float largest) {
    const int exponent = (__float_as_int(largest) >> 23) - 127;
    return largest < kLarge ? 0 : min(exponent + kBelow, kMostShrink);
  }
  __device__ __forceinline__ bool any_from(const float (&block_sum)[2], float limit) const {
    bool is = !(block_sum[0] < limit && block_sum[1] < limit);
    if constexpr (S::kCausal) is = is || shift[0] == -INFINITY || shift[1] == -INFINITY;
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
// without a table of positions, each of a thread's two rows sees the keys below its `limit`. `keys` is the
// tile, or a stretch of its keys.
template <class S, class Keys>
__device__ __forceinline__ void mask_scores(float (&s)[S::kKeys / 2], const KernelParams& p, const Keys& keys,
                                            int begin, const int (&limit)[2], int row_position) {
  const int column = begin + threadIdx.x % 4 * 2;
  if (S::kCausal && p.key_positions != nullptr) {
    const std::int32_t* positions = p.key_positions + keys.key_begin;
    const int key_count = keys.key_count;
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

// Windows: sets the scores of keys that a row does not see to -infinity.
template <class S>
__device__ __forceinline__ void mask_unseen(float (&s)[S::kKeys / 2], const uint2& bits) {
  const SeenKeys seen(bits);
#pragma unroll
  for (int i = 0; i < S::kKeys / 2; ++i)
    if (!seen(i)) s[i] = -INFINITY;
}

}  // namespace hilbench::cuda
