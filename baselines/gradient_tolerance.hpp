// How far a row of a gradient may be from the exact one: verification and tests of kernels judge by the same.
#pragma once

#include <span>

#include "baselines/gradient_reference.hpp"

namespace hilbench {

// What the tolerance of a row of dQ, dK or dV is made of.
struct GradientScale {
  double error = 0;         // of a plain low-precision evaluation: largest |plain - exact| of an element
  double square_error = 0;  // sum of its squares over the row
  bool overflows = false;   // some value of it is not finite: then the errors say nothing
  double size = 0, moved = 0, coherent = 0;  // as in GradientRow
  double largest = 0;                        // largest |element| of the exact row
  double exact_square = 0;                   // sum of its squares over the row
  double pairs = 0;
  double lse = 0;  // largest |LSE| that has a part in it
};
GradientScale gradient_scale(const GradientRow& exact, const GradientRow& plain, double lse);

// e is the error of plain low precision on the row, u = 2^-8 (bf16), 2^-11 (fp16), 2^-24 (fp32), a = size,
// b = max(lse, 1), r = lse_roundings, d = head_dim:
//   2 max(e, median(e/a) a) + 4 u a + n u coherent + 2 sqrt(d) 2^-24 (moved + coherent) + sqrt(pairs) 2^-23 a
//     + 2 (r 2^-24 b + u/32) largest + t
//
// coherent: what is off by u |dO o O| in D = sum of dO O moves all terms of a query alike. A row with one key
// has dP = D and so no gradient but these roundings. Where O is given, D of the exact gradient is of that O,
// and n = 2 allows for products that are rounded before they are summed. Who computes both passes rounds an O
// of its own: its D is then off by u / sqrt(3) |dO o O| in the mean square, and n = 3, five times that,
// fails one honest row in two million.
// t: half the smallest value of the dtype, as for O. moved: an fp32 rounding of a score s changes P by s
// 2^-24, and dP is a sum of d products. largest: the LSE that P is computed with may be off by what
// verification allows it, which multiplies all terms of a query alike.
class GradientTolerances {
 public:
  GradientTolerances(const Case& work, std::span<const GradientScale> rows);
  double of(const GradientScale& row) const;
  // Of ||gradient - exact|| / ||exact|| over all rows; at most a half.
  double relative() const { return relative_; }

 private:
  double roundings(const GradientScale& row, double size, double largest) const;

  double unit_, coherent_unit_, underflow_, sum_unit_, lse_unit_, dtype_lse_;
  double median_ = 0, relative_ = 0;
};

}  // namespace hilbench
