// The oracle of gradients: rows of dQ, dK and dV in double precision, and how far plain low precision is from
// them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "baselines/gradient_reference.hpp"
#include "baselines/gradient_tolerance.hpp"
#include "harness/measure/inputs.hpp"

namespace hilbench {

enum class Gradient { q, k, v };
inline constexpr std::array kGradients = {Gradient::q, Gradient::k, Gradient::v};
template <class Value>
using OfGradients = std::array<Value, kGradients.size()>;
inline std::size_t number_of(Gradient which) {
  return static_cast<std::size_t>(which);
}
std::string_view to_string(Gradient which);  // "dQ", "dK", "dV"
// The case whose rows are those of the gradient: of dK and dV its heads are the K/V heads.
Case rows_of(const Case& work, Gradient which);

// What the forward pass left of each (batch, position, head) row: the gradients depend on Q, K and V beside
// these.
struct ForwardRows {
  std::vector<float> lse;
  std::vector<double> delta, delta_size;  // D and |dO o O|
};

// Rows of one gradient.
struct GradientRows {
  std::vector<RowId> rows;
  std::vector<GradientRow> expected;
  std::vector<GradientScale> scales;
};
using GradientOracle = OfGradients<GradientRows>;

// `queries`: rows of dQ; `keys`: rows of dK and dV. dQ is computed from Q, K, V and dO alone, dK and dV with
// `forward`. Q, K, V and dO are read once for all rows of a batch entry and K/V head.
GradientOracle make_gradient_oracle(const Case& work, const InputTensors& inputs, const ForwardRows& forward,
                                    std::vector<RowId> queries, std::vector<RowId> keys, int threads);

}  // namespace hilbench
