// Conversion between fp32 and the 16-bit storage types, to nearest, ties to even.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

#include "harness/case.hpp"

namespace hilbench {

inline float bf16_value(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

// Upper half of the fp32 pattern. Values past the largest bf16 become infinity; NaN stays NaN.
inline std::uint16_t bf16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// `value` as it comes back from storage in `dtype`.
float round_to(Dtype dtype, float value);

// Whole tensors into storage and back; `to` of narrow and `from` of widen hold elements of `dtype`.
void narrow(Dtype dtype, std::span<const float> from, void* to);
void widen(Dtype dtype, const void* from, std::span<float> to);

}  // namespace hilbench
