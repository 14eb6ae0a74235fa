// Storage types of Q, K, V and O. C++17 and no fmt, as every header that .cu files include.
#pragma once

#include <cstdint>

namespace hilbench {

enum class Dtype : std::int32_t { fp32, bf16, fp16 };

// Bytes of one element.
constexpr std::int64_t dtype_bytes(Dtype dtype) {
  return dtype == Dtype::fp32 ? 4 : 2;
}

}  // namespace hilbench
