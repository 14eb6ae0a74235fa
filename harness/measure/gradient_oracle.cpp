#include "harness/measure/gradient_oracle.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "kernels/base/files/untouched_vector.hpp"
#include "kernels/case/pattern.hpp"

namespace hilbench {
namespace {

// Rows of some positions of one tensor, batch entry and head, in host memory.
class HeldRows {
 public:
  HeldRows(const Case& work, const std::vector<char>& marked)
      : width_(static_cast<std::size_t>(work.head_dim)) {
    number_.resize(marked.size());
    for (std::size_t position = 0; position < marked.size(); ++position)
      if (marked[position] != 0) {
        number_[position] = static_cast<std::int32_t>(positions_.size());
        positions_.push_back(static_cast<std::int64_t>(position));
      }
  }
  void read(const Case& work, const InputTensors& inputs, Tensor which, std::int64_t batch, std::int64_t head,
            int threads) {
    const std::int64_t heads = which == Tensor::q || which == Tensor::d_o ? work.heads : work.kv_heads;
    values_.resize(positions_.size() * width_);
    const std::int64_t count = std::ssize(positions_);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::int64_t row = (batch * work.sequence_length + positions_[at]) * heads + head;
      inputs.read(which, row * work.head_dim, std::span(values_).subspan(at * width_, width_));
    }
  }
  const float* at(std::int64_t position) const {
    return values_.data() + static_cast<std::size_t>(number_[static_cast<std::size_t>(position)]) * width_;
  }

 private:
  std::size_t width_;
  std::vector<std::int32_t> number_;  // of each position
  std::vector<std::int64_t> positions_;
  UntouchedVector<float> values_;
};

// Q and dO, or K and V, of one head.
struct HeldPair {
  HeldRows first, second;
};

// The rows of one batch entry and K/V head: numbers of rows of dQ, and of dK and dV.
struct Group {
  std::vector<std::size_t> queries, keys;
};

class GradientWork {
 public:
  GradientWork(const Case& work, const InputTensors& inputs, const ForwardRows& forward, int threads)
      : work_(work), inputs_(inputs), forward_(forward), threads_(threads) {}

  void compute(GradientOracle& oracle) {
    std::map<std::pair<std::int64_t, std::int64_t>, Group> groups;
    const GradientRows& d_q = oracle[number_of(Gradient::q)];
    const GradientRows& d_k = oracle[number_of(Gradient::k)];
    for (std::size_t i = 0; i < d_q.rows.size(); ++i)
      groups[{d_q.rows[i].batch, kv_head_of(work_, d_q.rows[i].head)}].queries.push_back(i);
    for (std::size_t i = 0; i < d_k.rows.size(); ++i)
      groups[{d_k.rows[i].batch, d_k.rows[i].head}].keys.push_back(i);
    for (const auto& [place, group] : groups) {
      compute_queries(place.first, place.second, group.queries, oracle);
      compute_keys(place.first, place.second, group.keys, oracle);
    }
  }

 private:
  std::vector<char> none_marked() const {
    return std::vector<char>(static_cast<std::size_t>(work_.sequence_length), 0);
  }

  HeldPair held(const std::vector<char>& marked, Tensor first, Tensor second, std::int64_t batch,
                std::int64_t head) const {
    HeldPair pair{HeldRows(work_, marked), HeldRows(work_, marked)};
    pair.first.read(work_, inputs_, first, batch, head, threads_);
    pair.second.read(work_, inputs_, second, batch, head, threads_);
    return pair;
  }

  // Calls visit(branch, position) for each key that the query sees.
  template <class Visit>
  void for_each_key(const RowId& row, const Visit& visit) const {
    for (std::int64_t b = 0; b < std::ssize(work_.pattern); ++b)
      for (const std::int64_t key : visible_keys(work_, row.head, b, row.position)) visit(b, key);
  }
  // The same for the queries of a head that see a key.
  template <class Visit>
  void for_each_query(std::int64_t head, const RowId& key, const Visit& visit) const {
    for (std::int64_t b = 0; b < std::ssize(work_.pattern); ++b)
      for (const std::int64_t query : seeing_queries(work_, head, b, key.position)) visit(b, query);
  }

  std::size_t row_number(std::int64_t batch, std::int64_t head, std::int64_t position) const {
    return static_cast<std::size_t>((batch * work_.sequence_length + position) * work_.heads + head);
  }
  std::vector<float> row_of(Tensor which, std::int64_t heads, const RowId& row) const {
    std::vector<float> values(static_cast<std::size_t>(work_.head_dim));
    inputs_.read(which,
                 ((row.batch * work_.sequence_length + row.position) * heads + row.head) * work_.head_dim,
                 values);
    return values;
  }

  void compute_queries(std::int64_t batch, std::int64_t kv_head, const std::vector<std::size_t>& numbers,
                       GradientOracle& oracle) const {
    GradientRows& d_q = oracle[number_of(Gradient::q)];
    std::vector<char> marked = none_marked();
    for (const std::size_t i : numbers)
      for_each_key(d_q.rows[i],
                   [&](std::int64_t, std::int64_t key) { marked[static_cast<std::size_t>(key)] = 1; });
    const HeldPair keys = held(marked, Tensor::k, Tensor::v, batch, kv_head);
    const std::int64_t count = std::ssize(numbers);
#pragma omp parallel for num_threads(threads_) schedule(dynamic)
    for (std::int64_t number = 0; number < count; ++number) {
      const std::size_t i = numbers[static_cast<std::size_t>(number)];
      const RowId& row = d_q.rows[i];
      std::vector<const float*> k, v;
      std::vector<float> kept;
      for_each_key(row, [&](std::int64_t branch, std::int64_t key) {
        k.push_back(keys.first.at(key));
        v.push_back(keys.second.at(key));
        kept.push_back(kept_factor(work_, batch, row.head, branch, row.position, key));
      });
      const std::vector<float> q = row_of(Tensor::q, work_.heads, row);
      const std::vector<float> d_o = row_of(Tensor::d_o, work_.heads, row);
      d_q.expected[i] = query_gradient(work_, Arithmetic::exact, q.data(), d_o.data(), k, v, kept);
      d_q.scales[i] = gradient_scale(
          d_q.expected[i], query_gradient(work_, Arithmetic::plain, q.data(), d_o.data(), k, v, kept),
          forward_.lse[row_number(row.batch, row.head, row.position)]);
    }
  }

  void compute_keys(std::int64_t batch, std::int64_t kv_head, const std::vector<std::size_t>& numbers,
                    GradientOracle& oracle) const {
    GradientRows &d_k = oracle[number_of(Gradient::k)], &d_v = oracle[number_of(Gradient::v)];
    if (numbers.empty()) return;
    std::map<std::int64_t, HeldPair> queries;  // by head
    for (std::int64_t head = 0; head < work_.heads; ++head) {
      if (kv_head_of(work_, head) != kv_head) continue;
      std::vector<char> marked = none_marked();
      for (const std::size_t i : numbers)
        for_each_query(head, d_k.rows[i], [&](std::int64_t, std::int64_t query) {
          marked[static_cast<std::size_t>(query)] = 1;
        });
      queries.emplace(head, held(marked, Tensor::q, Tensor::d_o, batch, head));
    }
    const std::int64_t count = std::ssize(numbers);
#pragma omp parallel for num_threads(threads_) schedule(dynamic)
    for (std::int64_t number = 0; number < count; ++number) {
      const std::size_t i = numbers[static_cast<std::size_t>(number)];
      const RowId& row = d_k.rows[i];
      std::vector<GradientQuery> seeing;
      double lse = 0;
      for (const auto& of_head : queries) {
        const std::int64_t head = of_head.first;
        const HeldPair& rows = of_head.second;
        for_each_query(head, row, [&](std::int64_t branch, std::int64_t query) {
          const std::size_t at = row_number(batch, head, query);
          seeing.push_back({.q = rows.first.at(query),
                            .d_o = rows.second.at(query),
                            .lse = forward_.lse[at],
                            .delta = forward_.delta[at],
                            .delta_2 = forward_.delta_size[at],
                            .kept = kept_factor(work_, batch, head, branch, query, row.position)});
          if (std::isfinite(forward_.lse[at])) lse = std::max<double>(lse, std::abs(forward_.lse[at]));
        });
      }
      const std::vector<float> k = row_of(Tensor::k, work_.kv_heads, row);
      const std::vector<float> v = row_of(Tensor::v, work_.kv_heads, row);
      KeyGradient exact = key_gradient(work_, Arithmetic::exact, k.data(), v.data(), seeing);
      const KeyGradient plain = key_gradient(work_, Arithmetic::plain, k.data(), v.data(), seeing);
      d_k.scales[i] = gradient_scale(exact.k, plain.k, lse);
      d_v.scales[i] = gradient_scale(exact.v, plain.v, lse);
      d_k.expected[i] = std::move(exact.k);
      d_v.expected[i] = std::move(exact.v);
    }
  }

  const Case& work_;
  const InputTensors& inputs_;
  const ForwardRows& forward_;
  const int threads_;
};

}  // namespace

std::string_view to_string(Gradient which) {
  static constexpr std::array<std::string_view, kGradients.size()> kNames = {"dQ", "dK", "dV"};
  return kNames[number_of(which)];
}

Case rows_of(const Case& work, Gradient which) {
  Case rows = work;
  if (which != Gradient::q) rows.heads = work.kv_heads;
  return rows;
}

GradientOracle make_gradient_oracle(const Case& work, const InputTensors& inputs, const ForwardRows& forward,
                                    std::vector<RowId> queries, std::vector<RowId> keys, int threads) {
  GradientOracle oracle;
  oracle[number_of(Gradient::q)].rows = std::move(queries);
  oracle[number_of(Gradient::k)].rows = keys;
  oracle[number_of(Gradient::v)].rows = std::move(keys);
  for (GradientRows& rows : oracle) {
    rows.expected.resize(rows.rows.size());
    rows.scales.resize(rows.rows.size());
  }
  GradientWork(work, inputs, forward, threads).compute(oracle);
  return oracle;
}

}  // namespace hilbench
