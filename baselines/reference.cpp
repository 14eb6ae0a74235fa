#include "baselines/reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

#include "baselines/arithmetic.hpp"
#include "kernels/case/mask_blocks.hpp"
#include "kernels/case/pattern.hpp"
#include "kernels/case/rounding.hpp"

namespace hilbench {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSmallest = std::numeric_limits<float>::min();

// What dropout multiplies the probability of key j with.
double factor_of(std::span<const float> kept, std::size_t j) {
  return kept.empty() ? 1 : double{kept[j]};
}

// Sets the sizes of an exact row.
void measure_sizes(const Case& work, const float* q, const float* k, const float* v,
                   std::span<const double> p, std::span<const float> kept, ReferenceRow& row) {
  std::vector<double> terms(row.o.size(), 0), moved(row.o.size(), 0), spread(row.o.size(), 0);
  double lse_moved = 0;
  const double least = 0x1p-24 * *std::max_element(p.begin(), p.end());
  for (std::size_t j = 0; j < p.size(); ++j) {
    if (p[j] < least)
      row.lost += p[j];
    else
      ++row.kept;
    row.square_p += p[j] * p[j];
    const float *key = k + j * row.o.size(), *value = v + j * row.o.size();
    double products = 0, largest_value = 0;
    for (std::size_t d = 0; d < row.o.size(); ++d) {
      const double product = static_cast<double>(q[d]) * key[d];
      products += product * product;
    }
    const double score_square = p[j] * p[j] * products / static_cast<double>(work.head_dim);
    lse_moved += std::sqrt(score_square);
    for (std::size_t d = 0; d < row.o.size(); ++d) {
      const double kept_value = factor_of(kept, j) * value[d];
      const double term = p[j] * kept_value, distance = kept_value - row.o[d];
      largest_value = std::max(largest_value, std::abs(kept_value));
      terms[d] += term * term;
      moved[d] += score_square * distance * distance;
      spread[d] += p[j] * std::abs(distance);
    }
    row.underflow += kSmallest * (1 + largest_value);
  }
  row.o_size = std::sqrt(*std::max_element(terms.begin(), terms.end()));
  row.score_lse = lse_moved;
  row.score_o = std::sqrt(*std::max_element(moved.begin(), moved.end()));
  row.spread = *std::max_element(spread.begin(), spread.end());
  row.square_spread = std::inner_product(spread.begin(), spread.end(), spread.begin(), 0.0);
}

// Softmax of the scores and its averages of the values. `scores` become the probabilities, before dropout.
template <class Numbers, class Real = typename Numbers::Real>
ReferenceRow average(const Case& work, std::vector<Real>& scores, const float* v,
                     std::span<const float> kept) {
  const Real largest = *std::max_element(scores.begin(), scores.end());
  Real denominator = 0;
  for (const Real score : scores) denominator += std::exp(score - largest);
  std::vector<Real> o(static_cast<std::size_t>(work.head_dim), 0);
  for (std::size_t j = 0; j < scores.size(); ++j) {
    scores[j] = Numbers::stored(work, std::exp(scores[j] - largest) / denominator);
    const Real weight = scores[j] * static_cast<Real>(factor_of(kept, j));
    for (Real& element : o) element += weight * static_cast<Real>(*v++);
  }
  return {.o = {o.begin(), o.end()}, .lse = static_cast<double>(largest + std::log(denominator))};
}

template <class Numbers>
ReferenceRow attend_in(const Case& work, const float* q, const float* k, const float* v, std::int64_t keys,
                       std::span<const float> kept) {
  using Real = typename Numbers::Real;
  const Real scale = 1 / std::sqrt(static_cast<Real>(work.head_dim));
  std::vector<Real> scores;
  for (std::int64_t j = 0; j < keys; ++j) {
    const float* key = k + j * work.head_dim;
    Real dot = 0;
    for (std::int64_t d = 0; d < work.head_dim; ++d)
      dot += static_cast<Real>(q[d]) * static_cast<Real>(key[d]);
    scores.push_back(dot * scale);
  }
  if constexpr (std::is_same_v<Numbers, ExactArithmetic>) {
    ReferenceRow row = average<Numbers>(work, scores, v, kept);
    measure_sizes(work, q, k, v, scores, kept, row);
    return row;
  } else {
    std::vector<Real> rounded;
    for (const Real score : scores) rounded.push_back(Numbers::stored(work, score));
    const bool same = rounded == scores;
    ReferenceRow row = average<Numbers>(work, scores, v, kept);
    const ReferenceRow stored = same ? row : average<Numbers>(work, rounded, v, kept);
    row.stored_o = stored.o;
    row.stored_lse = stored.lse;
    return row;
  }
}

// Sets the sizes of an exact row from those of its branches. An error of a branch's LSE moves O towards or
// away from that branch's O.
void combine_sizes(std::span<const ReferenceRow> branches, ReferenceRow& row) {
  double o_square = 0, lse_moved = 0, moved_square = 0, spread_root = 0;
  for (const ReferenceRow& branch : branches) {
    const double weight = std::exp(branch.lse - row.lse);
    double distance = 0, square_distance = 0, largest_o = 0;
    for (std::size_t d = 0; d < row.o.size(); ++d) {
      const double apart = std::abs(branch.o[d] - row.o[d]);
      distance = std::max(distance, apart);
      largest_o = std::max(largest_o, std::abs(branch.o[d]));
      square_distance += apart * apart;
    }
    const auto square = [weight](double value) { return weight * weight * value * value; };
    o_square += square(branch.o_size);
    row.lost += weight * branch.lost;
    row.kept += branch.kept;
    row.underflow += weight * branch.underflow + kSmallest * (1 + largest_o);
    row.square_p += weight * weight * branch.square_p;
    lse_moved += weight * branch.score_lse;
    moved_square += square(branch.score_o) + square(branch.score_lse * distance);
    row.spread += weight * (branch.spread + distance);
    spread_root += weight * (std::sqrt(branch.square_spread) + std::sqrt(square_distance));
  }
  row.square_spread = spread_root * spread_root;
  row.o_size = std::sqrt(o_square);
  row.score_lse = lse_moved;
  row.score_o = std::sqrt(moved_square);
}

template <class Numbers>
ReferenceRow combine_in(const Case& work, std::span<const ReferenceRow> branches) {
  using Real = typename Numbers::Real;
  ReferenceRow result{.o = std::vector<double>(static_cast<std::size_t>(work.head_dim), 0.0),
                      .lse = -kInfinity};
  if (branches.empty()) return result;
  Real largest = -std::numeric_limits<Real>::infinity();
  for (const ReferenceRow& branch : branches) largest = std::max(largest, static_cast<Real>(branch.lse));
  Real sum = 0;
  for (const ReferenceRow& branch : branches) sum += std::exp(static_cast<Real>(branch.lse) - largest);
  result.lse = static_cast<double>(largest + std::log(sum));
  for (std::size_t d = 0; d < result.o.size(); ++d) {
    Real o = 0;
    for (const ReferenceRow& branch : branches)
      o += std::exp(static_cast<Real>(branch.lse) - largest) / sum * static_cast<Real>(branch.o[d]);
    result.o[d] = static_cast<double>(Numbers::stored(work, o));
  }
  return result;
}

ReferenceRow combine_exact(const Case& work, std::span<const ReferenceRow> branches) {
  ReferenceRow row = combine_in<ExactArithmetic>(work, branches);
  combine_sizes(branches, row);
  return row;
}

ReferenceRow combine_plain(const Case& work, std::span<const ReferenceRow> branches) {
  ReferenceRow row = combine_in<PlainArithmetic>(work, branches);
  std::vector<ReferenceRow> stored;
  for (const ReferenceRow& branch : branches)
    stored.push_back({.o = branch.stored_o, .lse = branch.stored_lse});
  ReferenceRow of_stored = combine_in<PlainArithmetic>(work, stored);
  row.stored_o = std::move(of_stored.o);
  row.stored_lse = of_stored.lse;
  return row;
}

// The rows of one head at `positions`, one after another.
std::vector<float> rows_at(std::span<const float> tensor, const Case& work, std::int64_t heads,
                           std::int64_t batch, std::int64_t head, std::span<const std::int64_t> positions) {
  std::vector<float> rows;
  for (const std::int64_t position : positions) {
    const auto row =
        tensor.begin() + ((batch * work.sequence_length + position) * heads + head) * work.head_dim;
    rows.insert(rows.end(), row, row + work.head_dim);
  }
  return rows;
}

}  // namespace

ReferenceRow attend(const Case& work, Arithmetic arithmetic, const float* q, const float* k, const float* v,
                    std::int64_t keys, std::span<const float> kept) {
  return arithmetic == Arithmetic::exact ? attend_in<ExactArithmetic>(work, q, k, v, keys, kept)
                                         : attend_in<PlainArithmetic>(work, q, k, v, keys, kept);
}

ReferenceRow combine(const Case& work, Arithmetic arithmetic, std::span<const ReferenceRow> branches) {
  return arithmetic == Arithmetic::exact ? combine_exact(work, branches) : combine_plain(work, branches);
}

namespace {

ReferenceRow row_of(const Case& work, const ReferenceInputs& inputs, const RowId& row,
                    Arithmetic arithmetic) {
  const std::int64_t kv_head = kv_head_of(work, row.head);
  const std::vector<float> q = rows_at(inputs.q, work, work.heads, row.batch, row.head, {&row.position, 1});
  std::vector<ReferenceRow> branches;
  for (std::size_t b = 0; b < work.pattern.size(); ++b) {
    const auto keys = visible_keys(work, row.head, static_cast<std::int64_t>(b), row.position);
    if (keys.empty()) continue;
    const std::vector<float> k = rows_at(inputs.k, work, work.kv_heads, row.batch, kv_head, keys);
    const std::vector<float> v = rows_at(inputs.v, work, work.kv_heads, row.batch, kv_head, keys);
    const std::vector<float> kept =
        kept_factors(work, row.batch, row.head, static_cast<std::int64_t>(b), row.position, keys);
    branches.push_back(attend(work, arithmetic, q.data(), k.data(), v.data(), std::ssize(keys), kept));
  }
  return combine(work, arithmetic, branches);
}

}  // namespace

ReferenceRow reference_row(const Case& work, const ReferenceInputs& inputs, const RowId& row) {
  return row_of(work, inputs, row, Arithmetic::exact);
}

ReferenceRow plain_row(const Case& work, const ReferenceInputs& inputs, const RowId& row) {
  return row_of(work, inputs, row, Arithmetic::plain);
}

namespace {

// Whether one dimension of a grid selects the key for the query; both are coordinates. NATTEN's definition
// (mask.hpp; arXiv 2504.16922) inside the group of positions that the dilation joins.
bool selects(const WindowDimension& dimension, Edges edges, std::int64_t query, std::int64_t key) {
  const std::int64_t d = dimension.dilation, w = dimension.window, s = dimension.stride;
  if (query % d != key % d) return false;
  const std::int64_t group_length = (dimension.extent - query % d + d - 1) / d;
  const std::int64_t i = query / d, j = key / d;
  if (dimension.causal) {
    const std::int64_t leader = std::min(i / s * s + s - 1, group_length - 1);
    return std::max<std::int64_t>(leader - w + 1, 0) <= j && j <= i;
  }
  const std::int64_t leader = std::min(i / s * s + s / 2, group_length - 1);
  std::int64_t start = leader - w / 2;
  if (edges == Edges::shift) start = std::max<std::int64_t>(0, std::min(start, group_length - w));
  return start <= j && j < start + w;
}

// Positions of the keys that the query at `position` sees by the mask, ascending.
std::vector<std::int64_t> keys_of_mask(const Case& work, std::int64_t position) {
  const std::int64_t block = work.mask_blocks.block;
  const BlockBits& bits = bits_of(work);
  std::vector<std::int64_t> keys;
  for (std::int64_t key = 0; key < work.sequence_length; ++key)
    if (bits.selects(position / block, key / block) && (work.mask == Mask::full || key <= position))
      keys.push_back(key);
  return keys;
}

// Positions of the keys that the query at `position` sees on the grid, ascending: every combination of what
// the dimensions select.
std::vector<std::int64_t> keys_of_windows(const Case& work, std::int64_t position) {
  std::vector<std::int64_t> keys = {0};
  std::int64_t below = work.sequence_length;  // positions that the dimensions so far do not tell apart
  for (const WindowDimension& dimension : work.windows) {
    below /= dimension.extent;
    const std::int64_t query = position / below % dimension.extent;
    std::vector<std::int64_t> selected;
    for (std::int64_t key = 0; key < dimension.extent; ++key)
      if (selects(dimension, work.edges, query, key)) selected.push_back(key);
    std::vector<std::int64_t> combined;
    for (const std::int64_t slower : keys)
      for (const std::int64_t key : selected) combined.push_back(slower + key * below);
    keys = std::move(combined);
  }
  if (work.mask == Mask::causal) std::erase_if(keys, [&](std::int64_t key) { return key > position; });
  return keys;
}

// Whether the query at `position` sees the key at `key`, by a mask or on a grid.
bool sees(const Case& work, std::int64_t position, std::int64_t key) {
  if (work.mask == Mask::causal && key > position) return false;
  if (has_mask_blocks(work)) {
    const std::int64_t block = work.mask_blocks.block;
    return bits_of(work).selects(position / block, key / block);
  }
  std::int64_t below = work.sequence_length;
  return std::ranges::all_of(work.windows, [&](const WindowDimension& dimension) {
    below /= dimension.extent;
    return selects(dimension, work.edges, position / below % dimension.extent,
                   key / below % dimension.extent);
  });
}

}  // namespace

std::vector<std::int64_t> visible_keys(const Case& work, std::int64_t head, std::int64_t branch_index,
                                       std::int64_t position) {
  if (has_mask_blocks(work)) return keys_of_mask(work, position);
  if (has_windows(work)) return keys_of_windows(work, position);
  if (!head_runs_branch(work, head, branch_index)) return {};
  const Branch& branch = work.pattern[static_cast<std::size_t>(branch_index)];
  const std::int64_t offset = offset_of(work, static_cast<std::size_t>(branch_index), kv_head_of(work, head));
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

std::vector<std::int64_t> seeing_queries(const Case& work, std::int64_t head, std::int64_t branch_index,
                                         std::int64_t key) {
  std::vector<std::int64_t> queries;
  if (has_windows(work)) {
    for (std::int64_t query = 0; query < work.sequence_length; ++query)
      if (sees(work, query, key)) queries.push_back(query);
    return queries;
  }
  if (!head_runs_branch(work, head, branch_index)) return queries;
  const Branch& branch = work.pattern[static_cast<std::size_t>(branch_index)];
  const std::int64_t offset = offset_of(work, static_cast<std::size_t>(branch_index), kv_head_of(work, head));
  const std::int64_t segment = key / branch.segment_length, begin = segment_begin(branch, segment);
  if (key < begin + offset || (key - begin - offset) % branch.dilation != 0) return queries;
  const bool dense = work.queries == Queries::dense;
  for (std::int64_t query = dense ? begin : begin + offset; query < segment_end(work, branch, segment);
       query += dense ? 1 : branch.dilation)
    if (work.mask == Mask::full || query >= key) queries.push_back(query);
  return queries;
}

}  // namespace hilbench
