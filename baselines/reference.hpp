// The oracle: attention as docs/definitions.md defines it, in double precision, row by row, obvious
// and never optimised.
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

// exact: double precision. plain: a simple evaluation in the case's dtype, with probabilities and output
// rounded to the dtype, scores and sums in fp32. Every tolerance is based on the difference of the two: a
// result may have at most twice the error of `plain`, as in FlashAttention's tests.
enum class Arithmetic { exact, plain };

// A row of O (head_dim values) and its LSE. An uncovered row is 0 with LSE -infinity.
struct ReferenceRow {
  std::vector<double> o;
  double lse = 0;
  // Of an exact row, what roundings are proportional to. p is the probability of a key, s = scale * root of
  // the sum over head_dim of (q k)^2: the size of its score, which exceeds the score if terms cancel each
  // other.
  double o_size = 0;     // largest root of the sum over keys of (p v)^2, over the elements of O
  double score_lse = 0;  // sum over keys of p s: what relative errors of scores do to LSE, at most
  double lost = 0;  // sum of the p below 2^-24 of the largest p: beside that, a sum in fp32 may lose them all
  double kept = 0;  // number of the other keys: roundings of a sum in fp32
  double square_p = 0;  // sum over keys of p^2: how far few keys share the row
  double score_o = 0;   // largest root of the sum over keys of (p s (v - o))^2: what they do to O
  double spread =
      0;  // largest sum over keys of p |v - o|: if no score is off by more than e, O by e times it
  double square_spread = 0;  // the sums that `spread` is the largest of: their squares, summed
  double underflow = 0;      // what fp32 may flush to zero in O: with dropout nothing larger may be left
  // Of a plain row, the same with scores rounded to the dtype: what a program that stores them computes.
  std::vector<double> stored_o = {};
  double stored_lse = 0;
};

// Softmax attention of one query over the keys that it sees in one branch. q holds head_dim values, k
// and v hold `keys` rows of head_dim values; `keys` is at least 1. All values are already rounded to
// the case's dtype. `kept`: what dropout multiplies the probability of each key with; empty: 1.
ReferenceRow attend(const Case& work, Arithmetic arithmetic, const float* q, const float* k, const float* v,
                    std::int64_t keys, std::span<const float> kept = {});

// The row that the branches covering it give together: O = sum of alpha_i O_i with alpha_i = s_i / sum of s_j
// (LongNet, Eqs. 9-10).
ReferenceRow combine(const Case& work, Arithmetic arithmetic, std::span<const ReferenceRow> branches);

// Positions of the keys that the query at `position` of `head` sees in branch `branch_index`, ascending.
// Empty if the branch does not cover the query.
std::vector<std::int64_t> visible_keys(const Case& work, std::int64_t head, std::int64_t branch_index,
                                       std::int64_t position);

// The inverse: positions of the queries of `head` that see the key at `key`, of the head's K/V head, in that
// branch, ascending.
std::vector<std::int64_t> seeing_queries(const Case& work, std::int64_t head, std::int64_t branch_index,
                                         std::int64_t key);

// Whole tensors in position order, with values rounded to the case's dtype.
// q: [batch, sequence, heads, head_dim]; k, v: [batch, sequence, kv_heads, head_dim].
struct ReferenceInputs {
  std::span<const float> q, k, v;
};

// One row of the output from whole tensors: exact, and plain.
ReferenceRow reference_row(const Case& work, const ReferenceInputs& inputs, const RowId& row);
ReferenceRow plain_row(const Case& work, const ReferenceInputs& inputs, const RowId& row);

}  // namespace hilbench
