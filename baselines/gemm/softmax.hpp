// Softmax of a score block, one block of keys after another (online softmax, arXiv 1805.02867).
#pragma once

#include <cstdint>
#include <span>

namespace hilbench {

// Running softmax state of some rows, without their weighted sums: [rows] each.
struct SoftmaxRows {
  float* maximum;      // -infinity before the first key
  float* denominator;  // sum of exp(score - maximum)
  float* rescale;      // what the caller must multiply a row's weighted sum with before it adds this block's
};

// Replaces scores[rows x columns] (rows contiguous) by exp(score - maximum) and updates the state. Of row i
// the first visible[i] columns count, 0 <= visible[i] <= columns; the others become 0.
void softmax_block(float* scores, std::int64_t columns, std::span<const std::int64_t> visible,
                   const SoftmaxRows& state);

}  // namespace hilbench
