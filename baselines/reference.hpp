// The oracle: attention of README, Definitions in double precision, row by row, obvious and never optimised.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/case.hpp"

namespace hilbench {

// One (batch, head, position) row of the output.
struct RowId {
  std::int64_t batch = 0;
  std::int64_t head = 0;
  std::int64_t position = 0;
};

// Inputs as the variants see them, widened: values already rounded to the case's dtype.
// q: [batch, sequence, heads, head_dim]; k, v: [batch, sequence, kv_heads, head_dim], position order.
struct ReferenceInputs {
  std::span<const float> q, k, v;
};

// Row of O (head_dim values) and its LSE; an uncovered row is 0 with LSE -infinity.
struct ReferenceRow {
  std::vector<double> o;
  double lse = 0;
};
ReferenceRow reference_row(const Case& work, const ReferenceInputs& inputs, const RowId& row);

// The same row as a plain evaluation in the case's dtype would give it: scores and probabilities rounded to
// the dtype, sums in fp32, output rounded. Its distance from reference_row is the yardstick of every
// tolerance (at most twice the error of plain low precision, as FlashAttention's tests ask).
ReferenceRow plain_row(const Case& work, const ReferenceInputs& inputs, const RowId& row);

// Keys (positions) that query `position` of `head` sees in branch `branch_index`, ascending; empty: not
// covered.
std::vector<std::int64_t> visible_keys(const Case& work, std::int64_t head, std::int64_t branch_index,
                                       std::int64_t position);

}  // namespace hilbench
