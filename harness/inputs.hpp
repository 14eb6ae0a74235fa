// The Q, K and V of a case: seeded random values, or tensors captured from a model.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/case.hpp"
#include "harness/sweep.hpp"

namespace hilbench {

// Position order, BSHD, every value already rounded to the case's dtype and widened to fp32.
struct HostTensors {
  std::vector<float> q, k, v;
};

// Random values are N(0, 1) with one in a thousand drawn from N(0, 100) instead, the outliers of the
// FlashAttention-3 accuracy test (arXiv 2407.08608, section 4.3, there added rather than drawn). Element i of
// a tensor depends on (seed, tensor, i) alone, so any number of threads gives the same values.
HostTensors make_inputs(const Case& work, const Inputs& inputs, std::uint64_t seed, int threads);

}  // namespace hilbench
