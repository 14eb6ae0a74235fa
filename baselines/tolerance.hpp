// How far a row of an output may be from the exact one: verification and tests of kernels judge by the same.
#pragma once

#include <span>

#include "baselines/reference.hpp"

namespace hilbench {

// How an implementation keeps scores between the product and the softmax: in fp32, as what fuses the two
// does, or stored in the case's dtype. Beyond a size these are different functions: bf16 is off by 1/8 at 64.
enum class Scores { fp32, stored };

// How far a plain low-precision evaluation of a row is from the exact row.
struct PlainError {
  double o = 0;            // largest |plain - exact| of an element of O
  double square_o = 0;     // sum of its squares over the row
  double lse = 0;          // |plain - exact| of the LSE; 0 for a row that no branch covers
  bool overflows = false;  // some value is not finite: then the others say nothing
};
struct PlainErrors : PlainError {
  PlainError stored;  // with stored scores
};
PlainErrors plain_errors(const ReferenceRow& plain, const ReferenceRow& exact);

// What the tolerance of a row is made of.
struct RowScale {
  PlainErrors plain;
  // Of the exact row:
  double largest_o = 0;  // largest |element| of O
  double size_o = 0;     // that, or o_size of the reference if that is more; 0: uncovered
  double exact_lse = 0;  // |LSE|; 0 if no branch covers the row
  double lost = 0, kept = 0, square_p = 0, score_o = 0, score_lse = 0, spread = 0, square_spread = 0,
         underflow = 0;     // as in ReferenceRow
  double exact_square = 0;  // sum of O^2
};
RowScale row_scale(const ReferenceRow& exact, const PlainErrors& plain);

// False if fp32 holds no LSE of the row: then no output is right.
bool fp32_holds_lse(const RowScale& row);

// Roundings of fp32 in an LSE that an implementation may need: a few of the logarithm and of scores, and two
// for each partial result (branch, and rank of a ring) that it merges.
double lse_roundings(const Case& work);

// e is the error of plain low precision on the row, u = 2^-8 (bf16), 2^-11 (fp16), 2^-24 (fp32), a = size_o,
// b = max(|LSE|, 1), r = lse_roundings, d = head_dim:
//   O: 4 u a + underflow + t
//      + min(largest_o / 2, 2 max(e, median(e/a) a) + 4 2^-24 c + 2 sqrt(d) 2^-24 score_o + 2 lost a)
//        with c = b a + sqrt(kept) a / 2 if partial results are merged,
//        else b min(a, spread) + sqrt(kept) a / 2
//   LSE, with its own e: 2 max(e, median(e/b) b) + r 2^-24 b + u/32 + u/2 sqrt(square_p)
//      + 2 sqrt(d) 2^-24 score_lse + 2 lost
//
// A plain evaluation may be exact by luck. So the median over all compared rows, and a few roundings, stand
// below it. One that overflows is no measure: its e is 0.
//
// An fp32 rounding of a score s changes its probability by s 2^-24: exp(s (1 + u)) / exp(s) = 1 + s u; the
// LSE stands for s. If the scores move by e_j, O moves by sum of p_j e_j (v_j - O): at most by spread times
// the largest e_j. That is 0 if all e_j are equal, or if one key has all the mass, however large its score.
// The sums of O are rounded once a key, each time by up to 2^-24 of O, at random: after 4,096 keys O is off
// by 37 times that in the mean square, and one element in thousands by three times as much. Merging is
// another matter: a partial result's weight is exp(its LSE - LSE), and if LSE is rounded, O as a whole is off
// by 2^-24 |LSE| of it.
//
// A score is a sum of d products, and its error in fp32 about 2^-24 sqrt(d)/2 of their size: four times that
// is allowed. It is also twice the bound of first order of a sum of one rounding each, 2^-24 scale times the
// sum of their sizes, since that sum is at most sqrt(d) times the root of their squares. An LSE moves by sum
// of p_j e_j. The e_j of equal keys are equal and do not average out: so score_lse is a sum over keys, not a
// root of squares.
//
// If two keys share a row and fp32 cannot tell which of their scores is larger, O may be anything between
// their values. largest_o / 2 bounds what is allowed then, so that zeros, or a row without its largest key,
// never pass.
//
// If dropout leaves of a row nothing but probabilities below 2^-126, its O may be 0 as well: `underflow` is
// the number of its keys times 2^-126, times their values. What is left may also be less than the dtype has
// steps for: t is half its smallest value, 2^-25 in fp16.
//
// LSE is fp32 in every dtype, and scores are. But exponentials that will be rounded to bf16 need no more than
// a part of its precision: a polynomial of degree 3 is off by 9e-5, all in one direction for equal scores,
// and LSE by as much. u/32 allows this, however small the scores.
//
// Kernels may add up the probabilities as they multiply them with V: rounded to the dtype, by u/2 at most
// each and at random. With one key, whose probability is not 1 where the maximum is an older one, LSE is off
// by up to u/2; many keys average it out. A sum that lacks a hundredth of a row is far beyond.
//
// With Scores::stored, e is that of a plain evaluation which stores them, and largest_o / 2 does not bound
// it: if two keys share the row, such a program may well be off by more.
class RowTolerances {
 public:
  RowTolerances(const Case& work, std::span<const RowScale> rows, Scores scores = Scores::fp32);
  double o(const RowScale& row) const;
  double lse(const RowScale& row) const;
  // Of ||O - exact|| / ||exact|| over all rows: twice that of plain evaluation, and the same roundings; at
  // most a half.
  double relative() const { return relative_; }

 private:
  PlainError plain(const RowScale& row) const;

  Scores scores_;
  bool merged_;
  double unit_, underflow_, lse_roundings_, score_unit_;
  double median_o_ = 0, median_lse_ = 0;
  double relative_ = 0;
};

}  // namespace hilbench
