// The oracle: attention of README, Definitions in double precision, row by row, obvious and never optimised.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/case/case.hpp"

namespace hilbench {

// One (batch, head, position) row of the output.
struct RowId {
  std::int64_t batch = 0;
  std::int64_t head = 0;
  std::int64_t position = 0;
};

// How the numbers behave: as in mathematics (double precision), or as a plain evaluation in the case's dtype
// would have them: scores and probabilities rounded to the dtype, sums in fp32, output rounded. The distance
// of the two is the yardstick of every tolerance (at most twice the error of plain low precision, as
// FlashAttention's tests ask).
enum class Arithmetic { exact, plain };

// Row of O (head_dim values) and its LSE; an uncovered row is 0 with LSE -infinity.
struct ReferenceRow {
  std::vector<double> o;
  double lse = 0;
};

// Softmax attention of one query over the keys that it sees in one branch: q holds head_dim values, k and v
// `keys` rows of them, at least one, widened: values already rounded to the case's dtype.
ReferenceRow attend(const Case& work, Arithmetic arithmetic, const float* q, const float* k, const float* v,
                    std::int64_t keys);

// The row that the branches make together, O = sum of alpha_i O_i with alpha_i = s_i / sum of s_j (LongNet,
// Eqs. 9-10), of those that cover it.
ReferenceRow combine(const Case& work, Arithmetic arithmetic, std::span<const ReferenceRow> branches);

// Keys (positions) that query `position` of `head` sees in branch `branch_index`, ascending; empty: not
// covered.
std::vector<std::int64_t> visible_keys(const Case& work, std::int64_t head, std::int64_t branch_index,
                                       std::int64_t position);

// Whole tensors, widened likewise, in position order.
// q: [batch, sequence, heads, head_dim]; k, v: [batch, sequence, kv_heads, head_dim].
struct ReferenceInputs {
  std::span<const float> q, k, v;
};

// A row of the output from whole tensors: all of the above in one, exact or plain.
ReferenceRow reference_row(const Case& work, const ReferenceInputs& inputs, const RowId& row);
ReferenceRow plain_row(const Case& work, const ReferenceInputs& inputs, const RowId& row);

}  // namespace hilbench
