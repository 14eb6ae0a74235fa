// The register-blocked matrix product of fp32, used for Q K^T and for P V.
#if defined(HILBENCH_KERNELS_CPU_MATRIX_TILE_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef HILBENCH_KERNELS_CPU_MATRIX_TILE_INL_HPP_
#undef HILBENCH_KERNELS_CPU_MATRIX_TILE_INL_HPP_
#else
#define HILBENCH_KERNELS_CPU_MATRIX_TILE_INL_HPP_
#endif

#include "kernels/cpu/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hilbench {
namespace HWY_NAMESPACE {

// c[row][v] = c[row][v] * scale[v] + sum over steps of a[row * row_stride + step * step_stride] * b[step][v],
// with c [kTileRows][kVectors] and b [steps][kVectors] of whole vectors. If `scale` is null, c starts from 0.
template <std::size_t kVectors>
HWY_INLINE void multiply_tile(const float* HWY_RESTRICT a, std::size_t row_stride, std::size_t step_stride,
                              const float* HWY_RESTRICT b, std::size_t steps, const float* scale,
                              float* HWY_RESTRICT c) {
  constexpr std::size_t kWidth = kVectors * kLanes;
  Vector sum[kTileRows][kVectors];
#pragma GCC unroll 8
  for (std::size_t row = 0; row < kTileRows; ++row)
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVectors; ++v)
      sum[row][v] = scale == nullptr ? hn::Zero(kFloats)
                                     : hn::Mul(hn::Load(kFloats, c + row * kWidth + v * kLanes),
                                               hn::Load(kFloats, scale + v * kLanes));
  for (std::size_t step = 0; step < steps; ++step) {
    Vector operand[kVectors];
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVectors; ++v) operand[v] = hn::Load(kFloats, b + v * kLanes);
#pragma GCC unroll 8
    for (std::size_t row = 0; row < kTileRows; ++row) {
      const Vector factor = hn::Set(kFloats, a[row * row_stride]);
#pragma GCC unroll 8
      for (std::size_t v = 0; v < kVectors; ++v) sum[row][v] = hn::MulAdd(factor, operand[v], sum[row][v]);
    }
    a += step_stride;
    b += kWidth;
  }
#pragma GCC unroll 8
  for (std::size_t row = 0; row < kTileRows; ++row)
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVectors; ++v) hn::Store(sum[row][v], kFloats, c + row * kWidth + v * kLanes);
}

}  // namespace HWY_NAMESPACE
}  // namespace hilbench
HWY_AFTER_NAMESPACE();

#endif
