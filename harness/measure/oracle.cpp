#include "harness/measure/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "kernels/base/files/untouched_vector.hpp"
#include "kernels/case/pattern.hpp"

namespace hilbench {
namespace {

// Keys that several compared rows attend to. Listed are those of the row that sees most; other rows see the
// first few of them. With windows, rows share keys only if they have the same position.
struct SharedKeys {
  std::int64_t batch = 0;
  std::int64_t kv_head = 0;
  std::vector<std::int64_t> keys;  // positions, or slots if `slots` permute the inputs
  struct Use {
    std::size_t row = 0;
    std::size_t branch = 0;    // number among the branches that cover the row
    std::int64_t of_case = 0;  // its number in the case
    std::int64_t keys = 0;
  };
  std::vector<Use> uses;
};

// Evaluates the reference for the rows of an oracle.
class OracleWork {
 public:
  OracleWork(const Case& work, const InputTensors& inputs, const ComputedFunction& function, int threads)
      : work_(work),
        inputs_(inputs),
        slots_(function.slots),
        queries_stay_(function.queries_stay),
        threads_(threads),
        position_of_(slots_.size()) {
    for (std::size_t t = 0; t < slots_.size(); ++t)
      position_of_[static_cast<std::size_t>(slots_[t])] = static_cast<std::int32_t>(t);
  }

  // Sets the expected rows and the errors of their plain evaluation.
  void compute(Oracle& oracle) {
    find_shared_keys(oracle.rows);
    read_queries(oracle.rows);
    for (std::size_t begin = 0, end = 0; begin < shared_keys_.size(); begin = end) {
      std::int64_t elements = 0;
      for (; end < shared_keys_.size() && (end == begin || elements < kHeldElements); ++end)
        elements += 2 * std::ssize(shared_keys_[end].keys) * work_.head_dim;
      attend_to(std::span(shared_keys_).subspan(begin, end - begin), oracle.rows);
    }
    oracle.expected.resize(oracle.rows.size());
    oracle.plain.resize(oracle.rows.size());
    for (std::size_t i = 0; i < oracle.rows.size(); ++i) {
      oracle.expected[i] = combine(work_, Arithmetic::exact, exact_[i]);
      oracle.plain[i] = plain_errors(combine(work_, Arithmetic::plain, plain_[i]), oracle.expected[i]);
    }
  }

 private:
  std::size_t head_dim() const { return static_cast<std::size_t>(work_.head_dim); }

  void find_shared_keys(const std::vector<RowId>& rows) {
    exact_.resize(rows.size());
    plain_.resize(rows.size());
    std::map<std::tuple<std::int64_t, std::int64_t, std::size_t, std::int64_t>, std::size_t> found;
    const bool windows = has_windows(work_);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const RowId& row = rows[i];
      const std::int64_t kv_head = kv_head_of(work_, row.head);
      const bool stays = slots_.empty() || queries_stay_;
      const std::int64_t slot = stays ? row.position : slots_[static_cast<std::size_t>(row.position)];
      for (std::size_t b = 0; b < work_.pattern.size(); ++b) {
        std::vector<std::int64_t> keys = visible_keys(work_, row.head, static_cast<std::int64_t>(b), slot);
        if (keys.empty()) continue;
        const auto [at, created] =
            found.try_emplace({row.batch, kv_head, b, windows ? slot : keys.front()}, shared_keys_.size());
        if (created) shared_keys_.push_back({.batch = row.batch, .kv_head = kv_head});
        SharedKeys& shared = shared_keys_[at->second];
        shared.uses.push_back({i, exact_[i].size(), static_cast<std::int64_t>(b), std::ssize(keys)});
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
  void attend_to(std::span<const SharedKeys> parts, const std::vector<RowId>& rows) {
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
    for (auto* held : {&k_, &v_}) {
      held->clear();  // so that none is copied if they move
      held->resize(keys.size() * head_dim());
    }
    const std::int64_t key_count = std::ssize(keys), result_count = 2 * std::ssize(uses);
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (std::int64_t i = 0; i < key_count; ++i) {
      const Item& item = keys[static_cast<std::size_t>(i)];
      read_key(*item.shared, item.shared->keys[item.number], static_cast<std::size_t>(i) * head_dim());
    }
#pragma omp parallel for num_threads(threads_) schedule(dynamic)
    for (std::int64_t i = 0; i < result_count; ++i) {
      const Item& item = uses[static_cast<std::size_t>(i / 2)];
      const SharedKeys::Use& use = item.shared->uses[item.number];
      const Arithmetic arithmetic = i % 2 == 0 ? Arithmetic::exact : Arithmetic::plain;
      auto& results = arithmetic == Arithmetic::exact ? exact_ : plain_;
      results[use.row][use.branch] =
          attend(work_, arithmetic, &queries_[use.row * head_dim()], &k_[item.begin * head_dim()],
                 &v_[item.begin * head_dim()], use.keys, kept_of(rows[use.row], *item.shared, use));
    }
  }

  // Dropout of a row; empty without.
  std::vector<float> kept_of(const RowId& row, const SharedKeys& shared, const SharedKeys::Use& use) const {
    if (!drops(dropout_of(work_))) return {};
    const auto keys = std::span(shared.keys).first(static_cast<std::size_t>(use.keys));
    return kept_factors(work_, row.batch, row.head, use.of_case, row.position, keys);
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
  const bool queries_stay_;
  const int threads_;
  std::vector<std::int32_t> position_of_;  // by slot
  std::vector<SharedKeys> shared_keys_;
  std::vector<float> queries_;
  UntouchedVector<float> k_, v_;
  std::vector<std::vector<ReferenceRow>> exact_, plain_;  // by row, then by branch
};

}  // namespace

Oracle make_oracle(const Case& work, const InputTensors& inputs, const ComputedFunction& function,
                   std::vector<RowId> rows, int threads) {
  Oracle oracle{.rows = std::move(rows), .expected = {}, .plain = {}};
  OracleWork(work, inputs, function, threads).compute(oracle);
  return oracle;
}

}  // namespace hilbench
