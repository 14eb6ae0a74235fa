// Online softmax (arXiv 1805.02867) of one block of scores after another.
#pragma once

#include <cstdint>
#include <span>

namespace hilbench {

// Running softmax state of some rows, without their weighted sums. Each pointer has [rows] elements.
struct SoftmaxRows {
  float* maximum;      // -infinity before the first key
  float* denominator;  // sum of exp(score - maximum)
  float* rescale;      // the caller multiplies a row's weighted sum by this before adding that of the block
};

// Replaces scores[rows x columns] (rows contiguous) by exp(score - maximum) and updates the state. In row i
// the first visible[i] columns count, 0 <= visible[i] <= columns; the others become 0.
void softmax_block(float* scores, std::int64_t columns, std::span<const std::int64_t> visible,
                   const SoftmaxRows& state);

}  // namespace hilbench
