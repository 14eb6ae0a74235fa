// The gradient probe: a second verification of gradients, in which every pair counts nearly the same, so that
// a pair that is missing, doubled or swapped for another shows at any length. docs/method.md says what it
// proves.
//
// All scores are 0, because Q and K have their values in different elements. So a query i that sees n keys
// (over all branches) has P = 1/n. A row of V is a sign s times one row u for all: dP = s g with g = dO.u,
// and D = g m, where m is the mean of the signs that it sees. Then, with sums over the pairs of a row,
//   dQ = scale g/n sum of (s - m) K,   dK = scale (s sum of g/n Q - sum of g m/n Q),   dV = sum of dO / n,
// which running sums give for all rows of a segment at once.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/measure/gradient_oracle.hpp"
#include "harness/measure/inputs.hpp"
#include "kernels/case/case.hpp"

namespace hilbench {

// What some rows of a gradient must be.
struct ProbedGradient {
  std::vector<RowId> rows;      // in position order
  std::vector<double> values;   // head_dim of each row
  std::vector<double> allowed;  // the same: how far roundings may take them
  std::vector<char> telling;    // of each row: one pair more or less would show
};

struct GradientProbe {
  OfGradients<ProbedGradient> gradients;
  // Of windows with too many pairs to be enumerated there is no probe, nor with dropout, which leaves no
  // running sums.
  bool left_out = false;
};

// Every row of a small case, and of a large one 16384 seeded samples of each gradient, the first and last
// rows among them. `inputs` are those of the probe.
GradientProbe make_gradient_probe(const Case& work, const InputTensors& inputs, std::uint64_t seed,
                                  int threads);

}  // namespace hilbench
