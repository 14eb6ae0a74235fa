// The two ways in which the oracle computes (Arithmetic). `Real` is the type of scores and sums; `stored`
// rounds a value as storing it would.
#pragma once

#include "kernels/case/case.hpp"
#include "kernels/case/rounding.hpp"

namespace hilbench {

struct ExactArithmetic {
  using Real = double;
  static double stored(const Case&, double value) { return value; }
};
struct PlainArithmetic {
  using Real = float;
  static float stored(const Case& work, float value) { return round_to(work.dtype, value); }
};

}  // namespace hilbench
