// The oracle of the backward pass (docs/definitions.md, "Backward"): rows of dQ, dK and dV, in double
// precision, obvious and never optimised. S = scale Q.K, P = exp(S - L), D = sum of dO O, dP = Z dO.V, dS =
// P (dP - D), where Z is 1 without dropout; then dQ = scale sum of dS K over the keys that a query sees, dK =
// scale sum of dS Q and dV = sum of Z P dO over the queries that see a key. L is the LSE of all branches
// together, so pairs of all branches simply add up.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "baselines/reference.hpp"
#include "kernels/case/case.hpp"

namespace hilbench {

// A row of a gradient, and what roundings are proportional to. A term is what one pair adds to an element.
struct GradientRow {
  std::vector<double> values;  // head_dim
  // Of an exact row, each the largest over its elements:
  double size = 0;   // root of the sum over pairs of term^2
  double moved = 0;  // root of the sum over pairs of what relative errors of S and dP do to a term, squared
  double coherent =
      0;  // what an error of D of the size of |dO o O| does: the same D has a part in many terms
  std::int64_t pairs = 0;
};

// What a query brings to the gradients of the keys that it sees. q and d_o hold head_dim values, rounded to
// the case's dtype.
struct GradientQuery {
  const float* q = nullptr;
  const float* d_o = nullptr;
  double lse = 0;      // -infinity: it sees no key
  double delta = 0;    // D
  double delta_2 = 0;  // |dO o O|: the root of the sum of squares that the roundings of D are proportional to
  float kept = 1;      // Z: what dropout multiplies the probability of this pair with
};

// The dQ of a query that sees `keys` rows of k and v; a key that it sees in two branches is there twice. L
// and O are computed here, from Q, K and V alone. `kept`: Z of each key; empty: 1.
GradientRow query_gradient(const Case& work, Arithmetic arithmetic, const float* q, const float* d_o,
                           std::span<const float* const> k, std::span<const float* const> v,
                           std::span<const float> kept = {});

// The dK and dV of a key that these queries see; one that sees it in two branches is there twice.
struct KeyGradient {
  GradientRow k, v;
};
KeyGradient key_gradient(const Case& work, Arithmetic arithmetic, const float* k, const float* v,
                         std::span<const GradientQuery> queries);

// D of a row, and |dO o O|.
struct Delta {
  double value = 0, size = 0;
};
Delta delta_of(std::span<const float> d_o, std::span<const float> o);

// Whole gradients from whole tensors in position order, for tests. d_o, o: like q; lse [batch, sequence,
// heads].
struct GradientInputs {
  ReferenceInputs tensors;
  std::span<const float> d_o, o, lse;
};
GradientRow reference_query_gradient(const Case& work, Arithmetic arithmetic, const GradientInputs& inputs,
                                     const RowId& row);
// `row.head` is a K/V head.
KeyGradient reference_key_gradient(const Case& work, Arithmetic arithmetic, const GradientInputs& inputs,
                                   const RowId& row);

}  // namespace hilbench
