#include "harness/measure/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <tuple>
#include <utility>

#include "kernels/case/pattern.hpp"

namespace hilbench {
namespace {

constexpr std::int64_t kSampledRows = 256;
// Cases with at most this many multiply-adds and rows are compared in full.
constexpr double kFullMultiplyAdds = 1 << 26;
constexpr std::int64_t kFullRows = 1 << 16;

RowId row_at(const Case& work, std::int64_t i) {
  return {.batch = i / (work.sequence_length * work.heads),
          .head = i % work.heads,
          .position = i / work.heads % work.sequence_length};
}

std::vector<RowId> choose_rows(const Case& work, std::uint64_t seed) {
  const std::int64_t total = work.batch * work.sequence_length * work.heads;
  const bool all = total <= kSampledRows || (total <= kFullRows && flops(work) / 4 <= kFullMultiplyAdds);
  std::vector<std::int64_t> picks;
  if (all) {
    for (std::int64_t i = 0; i < total; ++i) picks.push_back(i);
  } else {
    std::mt19937_64 generator(seed);
    picks = {0, total - 1, work.heads - 1, total - work.heads};
    while (static_cast<std::int64_t>(picks.size()) < kSampledRows)
      picks.push_back(static_cast<std::int64_t>(generator() % static_cast<std::uint64_t>(total)));
    std::sort(picks.begin(), picks.end());
    picks.erase(std::unique(picks.begin(), picks.end()), picks.end());
  }
  std::vector<RowId> rows;
  for (const std::int64_t i : picks) rows.push_back(row_at(work, i));
  return rows;
}

double unit_roundoff(Dtype dtype) {
  return dtype == Dtype::fp32 ? 0x1p-24 : dtype == Dtype::bf16 ? 0x1p-9 : 0x1p-12;
}

// Largest distance between the elements of two rows, and the sum of its squares over O.
struct Distance {
  double o = 0;
  double square_o = 0;
  double lse = 0;
};

Distance distance(const ReferenceRow& expected, const ReferenceRow& other) {
  Distance d;
  for (std::size_t i = 0; i < expected.o.size(); ++i) {
    const double error = std::abs(expected.o[i] - other.o[i]);
    d.o = std::max(d.o, error);
    d.square_o += error * error;
  }
  if (std::isfinite(expected.lse)) d.lse = std::abs(expected.lse - other.lse);
  return d;
}

PlainErrors plain_errors_of(const Oracle& oracle, const std::vector<Distance>& distances) {
  PlainErrors plain;
  for (std::size_t i = 0; i < oracle.rows.size(); ++i) {
    plain.worst_o = std::max(plain.worst_o, distances[i].o);
    plain.worst_lse = std::max(plain.worst_lse, distances[i].lse);
    plain.square_error += distances[i].square_o;
    for (const double value : oracle.expected[i].o) {
      plain.largest_o = std::max(plain.largest_o, std::abs(value));
      plain.square_o += value * value;
    }
    if (std::isfinite(oracle.expected[i].lse))
      plain.largest_lse = std::max(plain.largest_lse, std::abs(oracle.expected[i].lse));
  }
  return plain;
}

// Keys that several compared rows attend to. Listed are those of the row that sees most; other rows see the
// first few of them.
struct SharedKeys {
  std::int64_t batch = 0;
  std::int64_t kv_head = 0;
  std::vector<std::int64_t> keys;  // positions, or slots if `slots` permute the inputs
  struct Use {
    std::size_t row = 0;
    std::size_t branch = 0;  // number among the branches that cover the row
    std::int64_t keys = 0;
  };
  std::vector<Use> uses;
};

// Evaluates the reference for the rows of an oracle.
class OracleWork {
 public:
  OracleWork(const Case& work, const InputTensors& inputs, std::span<const std::int32_t> slots, int threads)
      : work_(work), inputs_(inputs), slots_(slots), threads_(threads), position_of_(slots.size()) {
    for (std::size_t t = 0; t < slots.size(); ++t)
      position_of_[static_cast<std::size_t>(slots[t])] = static_cast<std::int32_t>(t);
  }

  // Sets the expected rows and the errors of plain evaluation.
  void compute(Oracle& oracle) {
    find_shared_keys(oracle.rows);
    read_queries(oracle.rows);
    for (std::size_t begin = 0, end = 0; begin < shared_keys_.size(); begin = end) {
      std::int64_t elements = 0;
      for (; end < shared_keys_.size() && (end == begin || elements < kHeldElements); ++end)
        elements += 2 * std::ssize(shared_keys_[end].keys) * work_.head_dim;
      attend_to(std::span(shared_keys_).subspan(begin, end - begin));
    }
    oracle.expected.resize(oracle.rows.size());
    std::vector<Distance> distances(oracle.rows.size());
    for (std::size_t i = 0; i < oracle.rows.size(); ++i) {
      oracle.expected[i] = combine(work_, Arithmetic::exact, exact_[i]);
      distances[i] = distance(oracle.expected[i], combine(work_, Arithmetic::plain, plain_[i]));
    }
    oracle.plain = plain_errors_of(oracle, distances);
  }

 private:
  std::size_t head_dim() const { return static_cast<std::size_t>(work_.head_dim); }

  void find_shared_keys(const std::vector<RowId>& rows) {
    exact_.resize(rows.size());
    plain_.resize(rows.size());
    std::map<std::tuple<std::int64_t, std::int64_t, std::size_t, std::int64_t>, std::size_t> found;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const RowId& row = rows[i];
      const std::int64_t kv_head = kv_head_of(work_, row.head);
      const std::int64_t slot =
          slots_.empty() ? row.position : slots_[static_cast<std::size_t>(row.position)];
      for (std::size_t b = 0; b < work_.pattern.size(); ++b) {
        std::vector<std::int64_t> keys = visible_keys(work_, row.head, static_cast<std::int64_t>(b), slot);
        if (keys.empty()) continue;
        const auto [at, created] =
            found.try_emplace({row.batch, kv_head, b, keys.front()}, shared_keys_.size());
        if (created) shared_keys_.push_back({.batch = row.batch, .kv_head = kv_head});
        SharedKeys& shared = shared_keys_[at->second];
        shared.uses.push_back({i, exact_[i].size(), std::ssize(keys)});
        if (keys.size() > shared.keys.size()) shared.keys = std::move(keys);
        exact_[i].emplace_back();
        plain_[i].emplace_back();
      }
    }
  }

  void read_queries(const std::vector<RowId>& rows) {
    queries_.resize(rows.size() * head_dim());
    const auto count = static_cast<std::int64_t>(rows.size());
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (std::int64_t i = 0; i < count; ++i) {
      const RowId& row = rows[static_cast<std::size_t>(i)];
      const std::int64_t at = (row.batch * work_.sequence_length + row.position) * work_.heads + row.head;
      inputs_.read(Tensor::q, at * work_.head_dim,
                   std::span(queries_).subspan(static_cast<std::size_t>(i) * head_dim(), head_dim()));
    }
  }

  // Computes the results of all rows that use these keys.
  void attend_to(std::span<const SharedKeys> parts) {
    struct Item {
      const SharedKeys* shared;
      std::size_t begin;  // number of its first row in k_ and v_
      std::size_t number;
    };
    std::vector<Item> keys, uses;
    for (const SharedKeys& shared : parts) {
      const std::size_t begin = keys.size();
      for (std::size_t j = 0; j < shared.keys.size(); ++j) keys.push_back({&shared, begin, j});
      for (std::size_t j = 0; j < shared.uses.size(); ++j) uses.push_back({&shared, begin, j});
    }
    k_.resize(keys.size() * head_dim());
    v_.resize(k_.size());
    const std::int64_t key_count = std::ssize(keys), use_count = std::ssize(uses);
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (std::int64_t i = 0; i < key_count; ++i) {
      const Item& item = keys[static_cast<std::size_t>(i)];
      read_key(*item.shared, item.shared->keys[item.number], static_cast<std::size_t>(i) * head_dim());
    }
#pragma omp parallel for num_threads(threads_) schedule(dynamic, 4)
    for (std::int64_t i = 0; i < use_count; ++i) {
      const Item& item = uses[static_cast<std::size_t>(i)];
      const SharedKeys::Use& use = item.shared->uses[item.number];
      const float *q = &queries_[use.row * head_dim()], *k = &k_[item.begin * head_dim()],
                  *v = &v_[item.begin * head_dim()];
      exact_[use.row][use.branch] = attend(work_, Arithmetic::exact, q, k, v, use.keys);
      plain_[use.row][use.branch] = attend(work_, Arithmetic::plain, q, k, v, use.keys);
    }
  }

  void read_key(const SharedKeys& shared, std::int64_t key, std::size_t to) {
    const std::int64_t position = slots_.empty() ? key : position_of_[static_cast<std::size_t>(key)];
    const std::int64_t at =
        (shared.batch * work_.sequence_length + position) * work_.kv_heads + shared.kv_head;
    inputs_.read(Tensor::k, at * work_.head_dim, std::span(k_).subspan(to, head_dim()));
    inputs_.read(Tensor::v, at * work_.head_dim, std::span(v_).subspan(to, head_dim()));
  }

  const Case& work_;
  const InputTensors& inputs_;
  const std::span<const std::int32_t> slots_;
  const int threads_;
  std::vector<std::int32_t> position_of_;  // by slot
  std::vector<SharedKeys> shared_keys_;
  std::vector<float> queries_, k_, v_;
  std::vector<std::vector<ReferenceRow>> exact_, plain_;  // by row, then by branch
};

}  // namespace

void PlainErrors::add(const PlainErrors& other) {
  worst_o = std::max(worst_o, other.worst_o);
  worst_lse = std::max(worst_lse, other.worst_lse);
  largest_o = std::max(largest_o, other.largest_o);
  largest_lse = std::max(largest_lse, other.largest_lse);
  square_error += other.square_error;
  square_o += other.square_o;
}

Tolerances tolerances_of(const Case& work, const PlainErrors& plain) {
  // A plain evaluation may be exact by luck, so there is a floor: a few roundings of the largest result, and
  // the effect of a few fp32 roundings of the largest score on a probability. exp(s (1 + u)) / exp(s) = 1 + s
  // u; the largest LSE stands for the largest score s.
  const double fp32 = unit_roundoff(Dtype::fp32);
  const double floor = 4 * (unit_roundoff(work.dtype) + fp32 * plain.largest_lse);
  return {.o = 2 * plain.worst_o + floor * plain.largest_o,
          .relative = floor + (plain.square_o > 0 ? 2 * std::sqrt(plain.square_error / plain.square_o) : 0),
          .lse = 2 * plain.worst_lse + 8 * fp32 * std::max(plain.largest_lse, 1.0)};
}

Oracle make_oracle(const Case& work, const InputTensors& inputs, std::span<const std::int32_t> slots,
                   std::uint64_t seed, int threads, const std::function<bool(std::int64_t position)>& owned) {
  Oracle oracle;
  oracle.rows = choose_rows(work, seed);
  if (owned) std::erase_if(oracle.rows, [&](const RowId& row) { return !owned(row.position); });
  OracleWork(work, inputs, slots, threads).compute(oracle);
  oracle.tolerance = tolerances_of(work, oracle.plain);
  return oracle;
}

}  // namespace hilbench
