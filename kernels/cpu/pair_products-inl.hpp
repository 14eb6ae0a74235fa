// The register-blocked matrix product of bf16 pairs by vdpbf16ps, for targets with 512-bit vectors. A word of
// four bytes is two bf16 that are neighbours in the summed dimension, the first in the lower half. Words are
// passed as floats.
#if defined(HILBENCH_KERNELS_CPU_PAIR_PRODUCTS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef HILBENCH_KERNELS_CPU_PAIR_PRODUCTS_INL_HPP_
#undef HILBENCH_KERNELS_CPU_PAIR_PRODUCTS_INL_HPP_
#else
#define HILBENCH_KERNELS_CPU_PAIR_PRODUCTS_INL_HPP_
#endif

#include "kernels/cpu/simd-inl.hpp"

#if HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX3
#include <immintrin.h>

HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512bf16")
namespace hilbench {
namespace HWY_NAMESPACE {

// Like multiply_tile, but a and b hold words, and `rows` is any multiple of kTileRows. vdpbf16ps flushes
// subnormal inputs and results to zero.
template <std::size_t kVectors>
HWY_NOINLINE void multiply_pairs(const float* HWY_RESTRICT a, std::size_t row_stride,
                                 const float* HWY_RESTRICT b, std::size_t rows, std::size_t words,
                                 const float* scale, float* HWY_RESTRICT c) {
  constexpr std::size_t kWidth = kVectors * kLanes;
  for (std::size_t first = 0; first < rows; first += kTileRows, a += kTileRows * row_stride) {
    __m512 sum[kTileRows][kVectors];
#pragma GCC unroll 8
    for (std::size_t row = 0; row < kTileRows; ++row)
#pragma GCC unroll 8
      for (std::size_t v = 0; v < kVectors; ++v)
        sum[row][v] = scale == nullptr ? _mm512_setzero_ps()
                                       : _mm512_mul_ps(_mm512_load_ps(c + row * kWidth + v * kLanes),
                                                       _mm512_load_ps(scale + v * kLanes));
    for (std::size_t word = 0; word < words; ++word) {
      __m512bh operand[kVectors];
#pragma GCC unroll 8
      for (std::size_t v = 0; v < kVectors; ++v)
        operand[v] = reinterpret_cast<__m512bh>(_mm512_load_ps(b + word * kWidth + v * kLanes));
#pragma GCC unroll 8
      for (std::size_t row = 0; row < kTileRows; ++row) {
        const auto factor = reinterpret_cast<__m512bh>(_mm512_set1_ps(a[row * row_stride + word]));
#pragma GCC unroll 8
        for (std::size_t v = 0; v < kVectors; ++v)
          sum[row][v] = _mm512_dpbf16_ps(sum[row][v], factor, operand[v]);
      }
    }
#pragma GCC unroll 8
    for (std::size_t row = 0; row < kTileRows; ++row)
#pragma GCC unroll 8
      for (std::size_t v = 0; v < kVectors; ++v) _mm512_store_ps(c + row * kWidth + v * kLanes, sum[row][v]);
    c += kTileRows * kWidth;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace hilbench
HWY_POP_ATTRIBUTES
#endif

#endif
