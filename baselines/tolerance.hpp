// How far a row of an output may be from the exact one: verification and tests of kernels judge by the same.
#pragma once

#include <span>

#include "baselines/reference.hpp"

namespace hilbench {

// How far the plain low-precision evaluation of a row is from the exact row.
struct PlainErrors {
  double o = 0;         // largest |plain - exact| of an element of O
  double square_o = 0;  // sum of its squares over the row
  double lse = 0;       // |plain - exact| of the LSE; 0 for a row that no branch covers
};
PlainErrors plain_errors(const ReferenceRow& plain, const ReferenceRow& exact);

// What the tolerance of a row is made of.
struct RowScale {
  PlainErrors plain;
  // Of the exact row:
  double size_o = 0;     // largest |element| of O, or o_size of the reference if that is more; 0: uncovered
  double exact_lse = 0;  // |LSE|; 0 if no branch covers the row
  double lost = 0, score_o = 0, score_lse = 0;  // as in ReferenceRow
  double exact_square = 0;                      // sum of O^2
};
RowScale row_scale(const ReferenceRow& exact, const PlainErrors& plain);

// Roundings of fp32 in an LSE that an implementation may need: a few of the logarithm and of scores, and two
// for each partial result (branch, and rank of a ring) that it merges.
double lse_roundings(const Case& work);

// e is the error of plain low precision on the row, u = 2^-8 (bf16), 2^-11 (fp16), 2^-24 (fp32), a = size_o,
// b = max(|LSE|, 1), r = lse_roundings, d = head_dim:
//   O:   2 max(e, median(e/a) a) + 4 (u + 2^-24 |LSE|) a + 2 sqrt(d) 2^-24 score_o + 2 lost a
//   LSE: 2 max(e, median(e/b) b) + r 2^-24 b + u/32 + 2 sqrt(d) 2^-24 score_lse + 2 lost, e of LSE
// A plain evaluation may be exact by luck. So the median over all compared rows, and a few roundings, stand
// below it. An fp32 rounding of a score s changes its probability by s 2^-24: exp(s (1 + u)) / exp(s) = 1 + s
// u; the LSE stands for s. A score is a sum of d products, and its error in fp32 about 2^-24 sqrt(d)/2 of
// their size: four times that is allowed. It is also twice the bound of first order of a sum of one rounding
// each, 2^-24 scale sum of |q k|, since that sum is at most sqrt(d) times the root of its squares.
// An LSE moves by sum of p_j e_j if the scores move by e_j (its derivative is p). The e_j of equal keys are
// equal and do not average out: so score_lse is a sum over keys, not a root of squares. In O they cancel:
// O moves by sum of p_j e_j (v_j - O), which is 0 for equal e_j. LSE is fp32 in every dtype. But exponentials
// that will be rounded to bf16 need no more than a part of its precision: a polynomial of degree 3 is off by
// 9e-5, all in one direction for equal scores, and LSE by as much. u/32 allows this, however small the
// scores.
class RowTolerances {
 public:
  RowTolerances(const Case& work, std::span<const RowScale> rows);
  double o(const RowScale& row) const;
  double lse(const RowScale& row) const;
  // Of ||O - exact|| / ||exact|| over all rows: twice that of plain evaluation, and the same roundings.
  double relative() const { return relative_; }

 private:
  double unit_, lse_roundings_, score_unit_;
  double median_o_ = 0, median_lse_ = 0;
  double relative_ = 0;
};

}  // namespace hilbench
