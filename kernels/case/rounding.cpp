#include "kernels/case/rounding.hpp"

#include <cstring>

namespace hilbench {

void narrow(Dtype dtype, std::span<const float> from, void* to) {
  if (from.empty()) return;
  auto* out = static_cast<std::uint16_t*>(to);
  switch (dtype) {
    case Dtype::fp32:
      std::memcpy(to, from.data(), from.size_bytes());
      break;
    case Dtype::bf16:
      for (std::size_t i = 0; i < from.size(); ++i) out[i] = bf16_bits(from[i]);
      break;
    case Dtype::fp16:
      for (std::size_t i = 0; i < from.size(); ++i) out[i] = fp16_bits(from[i]);
      break;
  }
}

void widen(Dtype dtype, const void* from, std::span<float> to) {
  if (to.empty()) return;
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
      return fp16_value(fp16_bits(value));
    case Dtype::fp32:
      break;
  }
  return value;
}

}  // namespace hilbench
