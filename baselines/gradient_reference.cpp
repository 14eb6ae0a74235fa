#include "baselines/gradient_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "baselines/arithmetic.hpp"
#include "kernels/case/pattern.hpp"
#include "kernels/case/rounding.hpp"

namespace hilbench {
namespace {

template <class Real>
Real scale_of(const Case& work) {
  return 1 / std::sqrt(static_cast<Real>(work.head_dim));
}

template <class Real>
Real dot(const Case& work, const float* a, const float* b) {
  Real sum = 0;
  for (std::int64_t d = 0; d < work.head_dim; ++d) sum += static_cast<Real>(a[d]) * static_cast<Real>(b[d]);
  return sum;
}

// Root of the sum of (a b)^2.
double product_size(const Case& work, const float* a, const float* b) {
  double sum = 0;
  for (std::int64_t d = 0; d < work.head_dim; ++d) {
    const double product = static_cast<double>(a[d]) * b[d];
    sum += product * product;
  }
  return std::sqrt(sum);
}

// Adds up the terms factor * row of a gradient, and their sizes.
template <class Numbers>
class Sum {
 public:
  using Real = typename Numbers::Real;
  explicit Sum(const Case& work)
      : work_(work), values_(width()), square_(width()), moved_(width()), coherent_(width()) {}

  // `moved`: how far roundings of S and dP move the factor; `coherent`: how far an error of D does.
  void add(Real factor, const float* row, double moved, double coherent) {
    ++pairs_;
    for (std::size_t d = 0; d < width(); ++d) values_[d] += factor * static_cast<Real>(row[d]);
    if constexpr (std::is_same_v<Numbers, ExactArithmetic>)
      for (std::size_t d = 0; d < width(); ++d) {
        const double value = row[d];
        square_[d] += factor * factor * value * value;
        moved_[d] += moved * moved * value * value;
        coherent_[d] += coherent * value;
      }
  }
  // For a gradient whose pairs have a D each, errors of D are as random as those of S.
  void add_apart(Real factor, const float* row, double moved, double coherent) {
    add(factor, row, moved, 0);
    if constexpr (std::is_same_v<Numbers, ExactArithmetic>)
      for (std::size_t d = 0; d < width(); ++d) {
        const double part = coherent * row[d];
        apart_.resize(width());
        apart_[d] += part * part;
      }
  }

  GradientRow row(Real scale) const {
    GradientRow row{.values = {}, .pairs = pairs_};
    for (const Real value : values_)
      row.values.push_back(static_cast<double>(Numbers::stored(work_, scale * value)));
    const auto largest_root = [&](const std::vector<double>& squares) {
      double largest = 0;
      for (const double square : squares) largest = std::max(largest, square);
      return static_cast<double>(scale) * std::sqrt(largest);
    };
    row.size = largest_root(square_);
    row.moved = largest_root(moved_);
    row.coherent = largest_root(apart_);
    for (const double part : coherent_)
      row.coherent = std::max(row.coherent, static_cast<double>(scale) * std::abs(part));
    return row;
  }

 private:
  std::size_t width() const { return static_cast<std::size_t>(work_.head_dim); }
  const Case& work_;
  std::vector<Real> values_;
  std::vector<double> square_, moved_, coherent_, apart_ = {};
  std::int64_t pairs_ = 0;
};

template <class Numbers>
GradientRow query_gradient_in(const Case& work, const float* q, const float* d_o,
                              std::span<const float* const> k, std::span<const float* const> v,
                              std::span<const float> kept, std::optional<double> given_delta) {
  using Real = typename Numbers::Real;
  const Real scale = scale_of<Real>(work);
  const auto width = static_cast<std::size_t>(work.head_dim);
  Sum<Numbers> sum(work);
  if (k.empty()) return sum.row(scale);
  std::vector<Real> scores;
  for (const float* key : k) scores.push_back(scale * dot<Real>(work, q, key));
  const Real largest = *std::max_element(scores.begin(), scores.end());
  Real denominator = 0;
  for (const Real score : scores) denominator += std::exp(score - largest);
  const Real lse = largest + std::log(denominator);
  const auto factor = [&](std::size_t j) { return kept.empty() ? Real{1} : Real{kept[j]}; };
  std::vector<Real> o(width, 0);
  for (std::size_t j = 0; j < k.size(); ++j) {
    const Real p = factor(j) * Numbers::stored(work, std::exp(scores[j] - lse));
    for (std::size_t d = 0; d < width; ++d) o[d] += p * static_cast<Real>(v[j][d]);
  }
  Real delta = 0;
  double delta_square = 0;
  for (std::size_t d = 0; d < width; ++d) {
    const Real product = static_cast<Real>(d_o[d]) * static_cast<Real>(Numbers::stored(work, o[d]));
    delta += product;
    delta_square += static_cast<double>(product) * static_cast<double>(product);
  }
  if (given_delta) delta = static_cast<Real>(*given_delta);
  for (std::size_t j = 0; j < k.size(); ++j) {
    const Real p = std::exp(scores[j] - lse), dp = factor(j) * dot<Real>(work, d_o, v[j]);
    const Real ds = Numbers::stored(work, p * (dp - delta));
    double moved = 0, coherent = 0;
    if constexpr (std::is_same_v<Numbers, ExactArithmetic>) {
      moved =
          std::hypot(scale * product_size(work, q, k[j]) * ds, p * factor(j) * product_size(work, d_o, v[j]));
      coherent = p * std::sqrt(delta_square);
    }
    sum.add(ds, k[j], moved, coherent);
  }
  return sum.row(scale);
}

template <class Numbers>
KeyGradient key_gradient_in(const Case& work, const float* k, const float* v,
                            std::span<const GradientQuery> queries) {
  using Real = typename Numbers::Real;
  const Real scale = scale_of<Real>(work);
  Sum<Numbers> of_k(work), of_v(work);
  for (const GradientQuery& query : queries) {
    if (std::isinf(query.lse) && query.lse < 0) continue;
    const Real score = scale * dot<Real>(work, query.q, k);
    const Real p = std::exp(score - static_cast<Real>(query.lse)), kept = query.kept;
    const Real dp = kept * dot<Real>(work, query.d_o, v);
    const Real ds = Numbers::stored(work, p * (dp - static_cast<Real>(query.delta)));
    double moved = 0, score_size = 0, coherent = 0;
    if constexpr (std::is_same_v<Numbers, ExactArithmetic>) {
      score_size = scale * product_size(work, query.q, k);
      moved = std::hypot(score_size * ds, p * kept * product_size(work, query.d_o, v));
      coherent = p * query.delta_2;
    }
    of_k.add_apart(ds, query.q, moved, coherent);
    const Real kept_p = kept * Numbers::stored(work, p);
    of_v.add(kept_p, query.d_o, score_size * static_cast<double>(kept_p), 0);
  }
  return {of_k.row(scale), of_v.row(1)};
}

const float* row_at(std::span<const float> tensor, const Case& work, std::int64_t heads, const RowId& row) {
  return tensor.data() +
         ((row.batch * work.sequence_length + row.position) * heads + row.head) * work.head_dim;
}

}  // namespace

GradientRow query_gradient(const Case& work, Arithmetic arithmetic, const float* q, const float* d_o,
                           std::span<const float* const> k, std::span<const float* const> v,
                           std::span<const float> kept, std::optional<double> delta) {
  return arithmetic == Arithmetic::exact
             ? query_gradient_in<ExactArithmetic>(work, q, d_o, k, v, kept, delta)
             : query_gradient_in<PlainArithmetic>(work, q, d_o, k, v, kept, delta);
}

KeyGradient key_gradient(const Case& work, Arithmetic arithmetic, const float* k, const float* v,
                         std::span<const GradientQuery> queries) {
  return arithmetic == Arithmetic::exact ? key_gradient_in<ExactArithmetic>(work, k, v, queries)
                                         : key_gradient_in<PlainArithmetic>(work, k, v, queries);
}

Delta delta_of(std::span<const float> d_o, std::span<const float> o) {
  double sum = 0, square = 0;
  for (std::size_t d = 0; d < o.size(); ++d) {
    const double product = static_cast<double>(d_o[d]) * o[d];
    sum += product;
    square += product * product;
  }
  return {sum, std::sqrt(square)};
}

GradientRow reference_query_gradient(const Case& work, Arithmetic arithmetic, const GradientInputs& inputs,
                                     const RowId& row) {
  const std::int64_t kv_head = kv_head_of(work, row.head);
  std::vector<const float*> k, v;
  std::vector<float> kept;
  for (std::int64_t b = 0; b < std::ssize(work.pattern); ++b)
    for (const std::int64_t key : visible_keys(work, row.head, b, row.position)) {
      k.push_back(row_at(inputs.tensors.k, work, work.kv_heads, {row.batch, kv_head, key}));
      v.push_back(row_at(inputs.tensors.v, work, work.kv_heads, {row.batch, kv_head, key}));
      kept.push_back(kept_factor(work, row.batch, row.head, b, row.position, key));
    }
  const auto width = static_cast<std::size_t>(work.head_dim);
  const float* d_o = row_at(inputs.d_o, work, work.heads, row);
  const Delta delta = delta_of({d_o, width}, {row_at(inputs.o, work, work.heads, row), width});
  return query_gradient(work, arithmetic, row_at(inputs.tensors.q, work, work.heads, row), d_o, k, v, kept,
                        delta.value);
}

KeyGradient reference_key_gradient(const Case& work, Arithmetic arithmetic, const GradientInputs& inputs,
                                   const RowId& row) {
  std::vector<GradientQuery> queries;
  const auto width = static_cast<std::size_t>(work.head_dim);
  for (std::int64_t head = 0; head < work.heads; ++head) {
    if (kv_head_of(work, head) != row.head) continue;
    for (std::int64_t b = 0; b < std::ssize(work.pattern); ++b)
      for (const std::int64_t query : seeing_queries(work, head, b, row.position)) {
        const RowId id{row.batch, head, query};
        const float* d_o = row_at(inputs.d_o, work, work.heads, id);
        const Delta delta = delta_of({d_o, width}, {row_at(inputs.o, work, work.heads, id), width});
        const auto at = (id.batch * work.sequence_length + id.position) * work.heads + id.head;
        queries.push_back({.q = row_at(inputs.tensors.q, work, work.heads, id),
                           .d_o = d_o,
                           .lse = inputs.lse[static_cast<std::size_t>(at)],
                           .delta = delta.value,
                           .delta_2 = delta.size,
                           .kept = kept_factor(work, row.batch, head, b, query, row.position)});
      }
  }
  return key_gradient(work, arithmetic, row_at(inputs.tensors.k, work, work.kv_heads, row),
                      row_at(inputs.tensors.v, work, work.kv_heads, row), queries);
}

}  // namespace hilbench
