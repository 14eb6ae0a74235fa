// The bits of the 16-bit storage types, and their values in fp32. Rounds to nearest, ties to even.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace hilbench {

inline float bf16_value(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

// The upper half of the fp32 bits. Values above the largest bf16 become infinity; NaN stays NaN.
inline std::uint16_t bf16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// IEEE binary16: 11 significant bits, exponents -14 to 15, subnormals in steps of 2^-24.
inline float fp16_value(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000u} << 16;
  const std::uint32_t shifted = std::uint32_t{bits & 0x7fffu} << 13;
  const std::uint32_t exponent = shifted & 0x0f800000u;
  std::uint32_t normal = shifted + ((127u - 15u) << 23);
  if (exponent == 0x0f800000u) normal += (128u - 16u) << 23;  // infinity, NaN
  const float small = static_cast<float>(shifted >> 13) * 0x1p-24f;
  return std::bit_cast<float>(sign | (exponent == 0 ? std::bit_cast<std::uint32_t>(small) : normal));
}

inline std::uint16_t fp16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  // The last bit of the sum is worth 2^-24, one step of the subnormals, so the addition rounds.
  const std::uint32_t small = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) -
                              std::bit_cast<std::uint32_t>(0.5f);
  const std::uint32_t normal = (magnitude - ((127u - 15u) << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
  std::uint32_t result = magnitude < 0x38800000u ? small : normal;  // 2^-14
  if (magnitude >= 0x47800000u) result = 0x7c00;                    // 2^16
  if (magnitude > 0x7f800000u) result = 0x7e00;
  return static_cast<std::uint16_t>((bits >> 16 & 0x8000u) | result);
}

}  // namespace hilbench
