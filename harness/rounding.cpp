#include "harness/rounding.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace hilbench {
namespace {

// IEEE binary16: 11 significant bits, exponents -14 to 15, subnormals in steps of 2^-24.
float round_to_fp16(float value) {
  if (!std::isfinite(value) || value == 0) return value;
  const int exponent = std::max(std::ilogb(value), -14);
  const float rounded = std::ldexp(std::nearbyint(std::ldexp(value, 10 - exponent)), exponent - 10);
  const float largest = 65504;
  return std::fabs(rounded) > largest ? std::copysign(std::numeric_limits<float>::infinity(), value)
                                      : rounded;
}

// `value` must have been rounded to binary16.
std::uint16_t fp16_bits(float value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const float magnitude = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7e00;
  if (std::isinf(value)) return sign | 0x7c00;
  if (magnitude < 0x1p-14f) return sign | static_cast<std::uint16_t>(magnitude * 0x1p24f);
  const int exponent = std::ilogb(magnitude);
  const auto significand = static_cast<std::uint16_t>(std::ldexp(magnitude, 10 - exponent));
  return static_cast<std::uint16_t>(sign | ((exponent + 14) * 1024 + significand));
}

float fp16_value(std::uint16_t bits) {
  const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  if (exponent == 31)
    return fraction != 0 ? std::numeric_limits<float>::quiet_NaN()
                         : sign * std::numeric_limits<float>::infinity();
  return sign * std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
}

}  // namespace

void narrow(Dtype dtype, std::span<const float> from, void* to) {
  auto* out = static_cast<std::uint16_t*>(to);
  switch (dtype) {
    case Dtype::fp32:
      std::memcpy(to, from.data(), from.size_bytes());
      break;
    case Dtype::bf16:
      for (std::size_t i = 0; i < from.size(); ++i) out[i] = bf16_bits(from[i]);
      break;
    case Dtype::fp16:
      for (std::size_t i = 0; i < from.size(); ++i) out[i] = fp16_bits(round_to_fp16(from[i]));
      break;
  }
}

void widen(Dtype dtype, const void* from, std::span<float> to) {
  const auto* in = static_cast<const std::uint16_t*>(from);
  switch (dtype) {
    case Dtype::fp32:
      std::memcpy(to.data(), from, to.size_bytes());
      break;
    case Dtype::bf16:
      for (std::size_t i = 0; i < to.size(); ++i) to[i] = bf16_value(in[i]);
      break;
    case Dtype::fp16:
      for (std::size_t i = 0; i < to.size(); ++i) to[i] = fp16_value(in[i]);
      break;
  }
}

float round_to(Dtype dtype, float value) {
  switch (dtype) {
    case Dtype::bf16:
      return bf16_value(bf16_bits(value));
    case Dtype::fp16:
      return round_to_fp16(value);
    case Dtype::fp32:
      break;
  }
  return value;
}

}  // namespace hilbench
