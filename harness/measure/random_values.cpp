#include "harness/measure/random_values.hpp"

#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "harness/measure/random_values.cpp"
// foreach_target.h includes what follows once for each target.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "hwy/contrib/math/math-inl.h"
// clang-format on

#ifndef HILBENCH_HARNESS_RANDOM_VALUES_CPP_
#define HILBENCH_HARNESS_RANDOM_VALUES_CPP_
namespace hilbench {

constexpr double kTurn = 2.0 * std::numbers::pi;
constexpr double outlier_scale(Distribution distribution) {
  return distribution == Distribution::outliers ? 10.0 : 1.0;
}
// One word in 1000 is an outlier: a multiple of 1000 = 8 * 125. To find them without a division, multiply by
// the inverse of 125 modulo 2^64 and rotate by three bits. A multiple of 1000 gives its quotient; every other
// word gives more than the largest quotient (Granlund, Montgomery 1994, section 9).
constexpr std::uint64_t kInverseOf125 = 0x1cac083126e978d5u;
static_assert(kInverseOf125 * 125 == 1);
constexpr std::uint64_t kLargestQuotient = ~std::uint64_t{0} / 1000;
// The vector functions differ from the C library by a few roundings of `radius`, 2^-53 each. If a difference
// of kDoubt could change the fp32 result, the C library computes the value.
constexpr double kDoubt = 0x1p-47;

}  // namespace hilbench
#endif

HWY_BEFORE_NAMESPACE();
namespace hilbench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;
using Words = hn::RebindToUnsigned<Doubles>;
using Floats = hn::Rebind<float, Doubles>;
using DoubleVector = hn::Vec<Doubles>;
using WordVector = hn::Vec<Words>;
constexpr Doubles kDoubles;
constexpr Words kWords;
constexpr Floats kFloats;

HWY_INLINE WordVector mix_words(WordVector x) {
  x = hn::Add(x, hn::Set(kWords, 0x9e3779b97f4a7c15u));
  x = hn::Mul(hn::Xor(x, hn::ShiftRight<30>(x)), hn::Set(kWords, 0xbf58476d1ce4e5b9u));
  x = hn::Mul(hn::Xor(x, hn::ShiftRight<27>(x)), hn::Set(kWords, 0x94d049bb133111ebu));
  return hn::Xor(x, hn::ShiftRight<31>(x));
}

HWY_INLINE DoubleVector unit_intervals(WordVector words) {
  const auto steps = hn::BitCast(hn::RebindToSigned<Doubles>(), hn::ShiftRight<11>(words));
  return hn::Mul(hn::Add(hn::ConvertTo(kDoubles, steps), hn::Set(kDoubles, 0.5)), hn::Set(kDoubles, 0x1p-53));
}

// Computes Lanes() values from number `first` on. Returns false if the C library might round one of them
// differently.
HWY_INLINE bool vector_of_values(std::uint64_t key, std::uint64_t first, double outlier_scale, float* to) {
  const WordVector counters = hn::ShiftLeft<1>(hn::Iota(kWords, first));
  const WordVector words = mix_words(hn::Add(hn::Set(kWords, key), counters));
  const WordVector others = mix_words(hn::Add(hn::Set(kWords, key + 1), counters));
  const WordVector product = hn::Mul(mix_words(words), hn::Set(kWords, kInverseOf125));
  const WordVector quotient = hn::Or(hn::ShiftRight<3>(product), hn::ShiftLeft<61>(product));
  const auto outlier = hn::RebindMask(kDoubles, hn::Not(hn::Gt(quotient, hn::Set(kWords, kLargestQuotient))));
  const DoubleVector radius =
      hn::Sqrt(hn::Mul(hn::Set(kDoubles, -2.0), hn::Log(kDoubles, unit_intervals(words))));
  const DoubleVector cosine = hn::Cos(kDoubles, hn::Mul(hn::Set(kDoubles, kTurn), unit_intervals(others)));
  const DoubleVector scale =
      hn::IfThenElse(outlier, hn::Set(kDoubles, outlier_scale), hn::Set(kDoubles, 1.0));
  const DoubleVector value = hn::Mul(hn::Mul(radius, cosine), scale);
  const DoubleVector doubt = hn::Mul(hn::Mul(radius, scale), hn::Set(kDoubles, kDoubt));
  const auto low = hn::DemoteTo(kFloats, hn::Sub(value, doubt));
  const auto high = hn::DemoteTo(kFloats, hn::Add(value, doubt));
  hn::StoreU(low, kFloats, to);
  return hn::AllTrue(kFloats, hn::Eq(low, high));
}

void RandomValues(std::uint64_t key, std::uint64_t first, float* to, std::size_t count,
                  Distribution distribution) {
  const double scale = outlier_scale(distribution);
  const std::size_t lanes = hn::Lanes(kDoubles);
  std::size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {  // two at a time: one mostly waits for its results
    const bool sure = vector_of_values(key, first + i, scale, to + i);
    const bool second_sure = vector_of_values(key, first + i + lanes, scale, to + i + lanes);
    if (sure && second_sure) continue;
    for (std::size_t j = i; j < i + 2 * lanes; ++j) to[j] = random_value(key, first + j, distribution);
  }
  if (i + lanes <= count && vector_of_values(key, first + i, scale, to + i)) i += lanes;
  for (; i < count; ++i) to[i] = random_value(key, first + i, distribution);
}

}  // namespace HWY_NAMESPACE
}  // namespace hilbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hilbench {
namespace {

HWY_EXPORT(RandomValues);

double unit_interval(std::uint64_t word) {
  return (static_cast<double>(word >> 11) + 0.5) * 0x1p-53;
}

}  // namespace

std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> sequence(count);
  std::iota(sequence.begin(), sequence.end(), std::size_t{0});
  for (std::size_t left = count; left > 1; --left)
    std::swap(sequence[left - 1], sequence[mix(mix(seed) + left) % left]);
  return sequence;
}

float random_value(std::uint64_t key, std::uint64_t i, Distribution distribution) {
  const std::uint64_t word = mix(key + 2 * i);
  const double angle = kTurn * unit_interval(mix(key + 2 * i + 1));
  if (distribution == Distribution::student3) {
    const double root = std::cbrt(unit_interval(word));
    return static_cast<float>(std::sqrt(1 / (root * root) - 1) * std::cos(angle));
  }
  const double radius = std::sqrt(-2.0 * std::log(unit_interval(word)));
  const bool outlier = mix(word) % 1000 == 0;
  return static_cast<float>(radius * std::cos(angle) * (outlier ? outlier_scale(distribution) : 1.0));
}

void random_values(std::uint64_t key, std::uint64_t first, std::span<float> to, Distribution distribution) {
  if (distribution != Distribution::student3)
    return HWY_DYNAMIC_DISPATCH(RandomValues)(key, first, to.data(), to.size(), distribution);
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = random_value(key, first + i, distribution);
}

}  // namespace hilbench
#endif
