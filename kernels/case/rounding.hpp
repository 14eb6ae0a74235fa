// Tensors in fp32 and in the storage types. Rounds to nearest, ties to even.
#pragma once

#include <span>

#include "kernels/base/files/float16.hpp"
#include "kernels/case/case.hpp"

namespace hilbench {

// `value` after storing it in `dtype` and reading it back.
float round_to(Dtype dtype, float value);

// Half the distance of 1 to the next larger value of `dtype`: the largest relative error of round_to().
constexpr double unit_roundoff(Dtype dtype) {
  return dtype == Dtype::fp32 ? 0x1p-24 : dtype == Dtype::bf16 ? 0x1p-8 : 0x1p-11;
}

// Half the smallest `dtype` value above 0: the largest error of round_to() where that is less than one step.
constexpr double underflow_error(Dtype dtype) {
  return dtype == Dtype::fp32 ? 0x1p-150 : dtype == Dtype::bf16 ? 0x1p-134 : 0x1p-25;
}

// Whole tensors: narrow converts fp32 to `dtype`, widen converts back. The void pointers point to
// elements of `dtype`.
void narrow(Dtype dtype, std::span<const float> from, void* to);
void widen(Dtype dtype, const void* from, std::span<float> to);

}  // namespace hilbench
