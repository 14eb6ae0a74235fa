#include "harness/rounding.hpp"

#include <algorithm>
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

}  // namespace

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
