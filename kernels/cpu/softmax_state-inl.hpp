// The running state of an online softmax, one row in each lane. Scores are in units of log2.
#if defined(HILBENCH_KERNELS_CPU_SOFTMAX_STATE_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef HILBENCH_KERNELS_CPU_SOFTMAX_STATE_INL_HPP_
#undef HILBENCH_KERNELS_CPU_SOFTMAX_STATE_INL_HPP_
#else
#define HILBENCH_KERNELS_CPU_SOFTMAX_STATE_INL_HPP_
#endif

#include <limits>
#include <numbers>

#include "hwy/contrib/math/math-inl.h"
#include "kernels/cpu/simd-inl.hpp"
#if HWY_ARCH_X86_64
#include <immintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace hilbench {
namespace HWY_NAMESPACE {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// exp2_or_zero is 2^x for x up to about 0: exactly 1 at 0, and exactly 0 if the result is below the smallest
// normal number, and for -infinity and NaN. With x = n + f, 2^f is a minimax polynomial with p(0) = 1.
#if HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX3
// 0 <= f < 1: one instruction computes f, another scales p(f) by 2^n. `coefficients`: from f^degree to f^1.
template <std::size_t kDegree>
HWY_INLINE Vector exp2_by_scaling(Vector x, const float (&coefficients)[kDegree]) {
  constexpr int kAboveFloor = 0x9;
  const Vector f{_mm512_reduce_ps(x.raw, kAboveFloor)};
  Vector p = hn::Set(kFloats, coefficients[0]);
#pragma GCC unroll 8
  for (std::size_t i = 1; i < kDegree; ++i) p = hn::MulAdd(p, f, hn::Set(kFloats, coefficients[i]));
  p = hn::MulAdd(p, f, hn::Set(kFloats, 1.0f));
  const __mmask16 normal = _mm512_cmp_ps_mask(x.raw, _mm512_set1_ps(-126.0f), _CMP_GE_OQ);
  return Vector{_mm512_maskz_scalef_ps(normal, p.raw, x.raw)};
}

// Relative error 1.5e-7.
HWY_INLINE Vector exp2_or_zero(Vector x) {
  return exp2_by_scaling(x, {0.00186712993f, 0.00901703071f, 0.0557999127f, 0.240164444f, 0.693151295f});
}

// For results that are rounded to bf16: relative error 9e-5, at most a twentieth of the rounding error.
HWY_INLINE Vector exp2_or_zero_for_bf16(Vector x) {
  return exp2_by_scaling(x, {0.07706724107f, 0.2276449800f, 0.6951166391f});
}
#else
// |f| <= 1/2, and n is added to the exponent. Relative error 8e-8.
HWY_INLINE Vector exp2_or_zero(Vector x) {
  const Vector shifter = hn::Set(kFloats, 12582912.0f);  // 1.5 * 2^23: the sum has round(x) in its low bits
  const Vector shifted = hn::Add(x, shifter);
  const Vector f = hn::Sub(x, hn::Sub(shifted, shifter));
  Vector p = hn::Set(kFloats, 0.00015353362f);
  p = hn::MulAdd(p, f, hn::Set(kFloats, 0.0013398875f));
  p = hn::MulAdd(p, f, hn::Set(kFloats, 0.00961843692f));
  p = hn::MulAdd(p, f, hn::Set(kFloats, 0.0555033237f));
  p = hn::MulAdd(p, f, hn::Set(kFloats, 0.240226477f));
  p = hn::MulAdd(p, f, hn::Set(kFloats, 0.693147182f));
  p = hn::MulAdd(p, f, hn::Set(kFloats, 1.0f));
  const Ints ints;
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(ints, shifted));
  const Vector power = hn::BitCast(kFloats, hn::Add(hn::BitCast(ints, p), exponent));
  return hn::IfThenElseZero(hn::Ge(x, hn::Set(kFloats, -126.0f)), power);
}
#endif

// The largest score, and the sum of 2^(score - max) over the keys so far. Scores are in units of log2. For
// merged branches `max` is an LSE, in natural units, and `sum` is 1.
struct SoftmaxState {
  Vector max = hn::Set(kFloats, kMinusInfinity);
  Vector sum = hn::Zero(kFloats);

  // The largest score, or 0 if there is no key; safe to subtract.
  HWY_INLINE Vector shift() const {
    return hn::IfThenZeroElse(hn::Eq(max, hn::Set(kFloats, kMinusInfinity)), max);
  }

  // Raises the maximum. Returns the factor for all sums so far. `log2_base`: log2 of the units' base.
  HWY_INLINE Vector raise(Vector other_max, Vector log2_base) {
    const Vector old = max;
    max = hn::Max(max, other_max);
    const Vector factor = exp2_or_zero(hn::Mul(hn::Sub(old, shift()), log2_base));
    sum = hn::Mul(sum, factor);
    return factor;
  }

  // Adds the state of other keys of the same row. Returns the factors for the sums of both states.
  struct Factors {
    Vector own, other;
  };
  HWY_INLINE Factors merge(SoftmaxState other, Vector log2_base) {
    const Vector own = raise(other.max, log2_base);
    const Vector factor = other.raise(max, log2_base);
    sum = hn::Add(sum, other.sum);
    return {own, factor};
  }

  // The factor that turns weighted sums of values into averages; 0 for a row without keys.
  HWY_INLINE Vector normalize() const {
    const auto empty = hn::Eq(sum, hn::Zero(kFloats));
    return hn::IfThenZeroElse(empty, hn::Div(hn::Set(kFloats, 1.0f), sum));
  }

  // Natural log of the sum of e^score; -infinity for a row without keys. `ln_base`: ln of the units' base.
  HWY_INLINE Vector lse(Vector ln_base) const {
    const auto empty = hn::Eq(sum, hn::Zero(kFloats));
    const Vector value = hn::MulAdd(max, ln_base, hn::Log(kFloats, sum));
    return hn::IfThenElse(empty, hn::Set(kFloats, kMinusInfinity), value);
  }
};

// The state of a finished branch, whose values are averages already.
HWY_INLINE SoftmaxState averaged(Vector lse) {
  const auto empty = hn::Eq(lse, hn::Set(kFloats, kMinusInfinity));
  return {lse, hn::IfThenZeroElse(empty, hn::Set(kFloats, 1.0f))};
}

}  // namespace HWY_NAMESPACE
}  // namespace hilbench
HWY_AFTER_NAMESPACE();

#endif
