#include "baselines/gemm/softmax.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "baselines/gemm/softmax.cpp"
// foreach_target.h compiles this file once for each target. It must be included before the other headers.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace hilbench {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

float row_maximum(const float* scores, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t step = hn::Lanes(d);
  auto largest = hn::Set(d, -std::numeric_limits<float>::infinity());
  std::size_t i = 0;
  for (; i + step <= count; i += step) largest = hn::Max(largest, hn::LoadU(d, scores + i));
  float result = hn::GetLane(hn::MaxOfLanes(d, largest));
  for (; i < count; ++i) result = std::max(result, scores[i]);
  return result;
}

// scores[i] = exp(scores[i] - maximum). Returns their sum.
float row_exponentials(float* scores, std::size_t count, float maximum) {
  const hn::ScalableTag<float> d;
  const std::size_t step = hn::Lanes(d);
  const auto shift = hn::Set(d, maximum);
  auto sum = hn::Zero(d);
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    const auto e = hn::Exp(d, hn::Sub(hn::LoadU(d, scores + i), shift));
    hn::StoreU(e, d, scores + i);
    sum = hn::Add(sum, e);
  }
  float result = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; i < count; ++i) result += scores[i] = std::exp(scores[i] - maximum);
  return result;
}

void block(float* scores, std::int64_t columns, std::span<const std::int64_t> visible,
           const SoftmaxRows& state) {
  for (std::size_t row = 0; row < visible.size(); ++row) {
    float* line = scores + static_cast<std::int64_t>(row) * columns;
    const auto count = static_cast<std::size_t>(visible[row]);
    state.rescale[row] = 1;
    if (count > 0) {
      const float before = state.maximum[row];
      const float maximum = std::max(before, row_maximum(line, count));
      state.rescale[row] = std::exp(before - maximum);
      state.maximum[row] = maximum;
      state.denominator[row] =
          state.denominator[row] * state.rescale[row] + row_exponentials(line, count, maximum);
    }
    std::fill(line + count, line + columns, 0.0f);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace hilbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hilbench {
HWY_EXPORT(block);

void softmax_block(float* scores, std::int64_t columns, std::span<const std::int64_t> visible,
                   const SoftmaxRows& state) {
  HWY_DYNAMIC_DISPATCH(block)(scores, columns, visible, state);
}

}  // namespace hilbench
#endif  // HWY_ONCE
