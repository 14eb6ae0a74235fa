#include "baselines/reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/pattern.hpp"
#include "harness/rounding.hpp"

namespace hilbench {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

const float* row_of(std::span<const float> tensor, const Case& work, std::int64_t heads, std::int64_t batch,
                    std::int64_t position, std::int64_t head) {
  return tensor.data() + ((batch * work.sequence_length + position) * heads + head) * work.head_dim;
}

// How numbers behave: `Real` is the type of sums, `stored` what storing a score or probability makes of it.
struct Exact {
  using Real = double;
  static double stored(const Case&, double value) { return value; }
};
struct Plain {
  using Real = float;
  static float stored(const Case& work, float value) { return round_to(work.dtype, value); }
};

// Softmax attention of one query over `keys`: its normalised output and log of the denominator.
template <class Numbers>
struct Partial {
  std::vector<typename Numbers::Real> o;
  typename Numbers::Real lse;
};

template <class Numbers>
Partial<Numbers> attend(const Case& work, const ReferenceInputs& inputs, const RowId& row,
                        const std::vector<std::int64_t>& keys) {
  using Real = typename Numbers::Real;
  const std::int64_t kv_head = kv_head_of(work, row.head);
  const float* q = row_of(inputs.q, work, work.heads, row.batch, row.position, row.head);
  const Real scale = 1 / std::sqrt(static_cast<Real>(work.head_dim));
  std::vector<Real> scores;
  Real largest = -std::numeric_limits<Real>::infinity();
  for (const std::int64_t key : keys) {
    const float* k = row_of(inputs.k, work, work.kv_heads, row.batch, key, kv_head);
    Real dot = 0;
    for (std::int64_t d = 0; d < work.head_dim; ++d) dot += static_cast<Real>(q[d]) * static_cast<Real>(k[d]);
    scores.push_back(Numbers::stored(work, dot * scale));
    largest = std::max(largest, scores.back());
  }
  Real denominator = 0;
  for (const Real score : scores) denominator += std::exp(score - largest);
  Partial<Numbers> result{std::vector<Real>(static_cast<std::size_t>(work.head_dim), 0),
                          largest + std::log(denominator)};
  for (std::size_t j = 0; j < keys.size(); ++j) {
    const float* v = row_of(inputs.v, work, work.kv_heads, row.batch, keys[j], kv_head);
    const Real probability = Numbers::stored(work, std::exp(scores[j] - largest) / denominator);
    for (std::int64_t d = 0; d < work.head_dim; ++d)
      result.o[static_cast<std::size_t>(d)] += probability * static_cast<Real>(v[d]);
  }
  return result;
}

// O = sum of alpha_i O_i with alpha_i = s_i / sum of s_j over the branches (LongNet, Eqs. 9-10).
template <class Numbers>
ReferenceRow row_in(const Case& work, const ReferenceInputs& inputs, const RowId& row) {
  using Real = typename Numbers::Real;
  std::vector<Partial<Numbers>> partials;
  Real largest = -std::numeric_limits<Real>::infinity();
  for (std::size_t b = 0; b < work.pattern.size(); ++b) {
    const auto keys = visible_keys(work, row.head, static_cast<std::int64_t>(b), row.position);
    if (keys.empty()) continue;
    partials.push_back(attend<Numbers>(work, inputs, row, keys));
    largest = std::max(largest, partials.back().lse);
  }
  ReferenceRow result{std::vector<double>(static_cast<std::size_t>(work.head_dim), 0.0), -kInfinity};
  if (partials.empty()) return result;
  Real sum = 0;
  for (const auto& partial : partials) sum += std::exp(partial.lse - largest);
  result.lse = static_cast<double>(largest + std::log(sum));
  for (std::size_t d = 0; d < result.o.size(); ++d) {
    Real o = 0;
    for (const auto& partial : partials) o += std::exp(partial.lse - largest) / sum * partial.o[d];
    result.o[d] = static_cast<double>(Numbers::stored(work, o));
  }
  return result;
}

}  // namespace

ReferenceRow reference_row(const Case& work, const ReferenceInputs& inputs, const RowId& row) {
  return row_in<Exact>(work, inputs, row);
}

ReferenceRow plain_row(const Case& work, const ReferenceInputs& inputs, const RowId& row) {
  return row_in<Plain>(work, inputs, row);
}

std::vector<std::int64_t> visible_keys(const Case& work, std::int64_t head, std::int64_t branch_index,
                                       std::int64_t position) {
  if (!head_runs_branch(work, head, branch_index)) return {};
  const Branch& branch = work.pattern[static_cast<std::size_t>(branch_index)];
  const std::int64_t offset = offset_of(work, branch, kv_head_of(work, head));
  const std::int64_t segment = position / branch.segment_length;
  std::vector<std::int64_t> keys;
  bool query_selected = work.queries == Queries::dense;
  for (std::int64_t key = segment_begin(branch, segment) + offset; key < segment_end(work, branch, segment);
       key += branch.dilation) {
    if (key == position) query_selected = true;
    if (work.mask == Mask::full || key <= position) keys.push_back(key);
  }
  return query_selected ? keys : std::vector<std::int64_t>{};
}

}  // namespace hilbench
