// An attention problem with random inputs, a CPU kernel's result for it, and what the oracle expects.
#pragma once

#include <gtest/gtest.h>
#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "baselines/tolerance.hpp"
#include "kernels/case/rounding.hpp"
#include "kernels/cpu/permute.hpp"
#include "kernels/implementation.hpp"
#include "kernels/windows/case_index.hpp"

namespace hilbench {

using Random = std::mt19937_64;

inline std::int64_t between(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}
template <class T>
T one_of(Random& random, std::initializer_list<T> choices) {
  return *(choices.begin() + between(random, 0, static_cast<std::int64_t>(choices.size()) - 1));
}

// Values of N(0, 1), rounded to dtype; one row in 16 is an outlier that takes scores to several hundred.
inline std::vector<float> random_tensor(Random& random, std::int64_t rows, std::int64_t head_dim,
                                        Dtype dtype) {
  std::normal_distribution<float> normal;
  std::vector<float> values;
  for (std::int64_t row = 0; row < rows; ++row) {
    const float scale = between(random, 0, 15) == 0 ? 15.0f : 1.0f;
    for (std::int64_t d = 0; d < head_dim; ++d)
      values.push_back(static_cast<float>(round_to(dtype, scale * normal(random))));
  }
  return values;
}

using Bytes = hwy::AlignedFreeUniquePtr<std::byte[]>;

inline Bytes stored(const std::vector<float>& values, const Case& work, std::int64_t heads,
                    const std::vector<std::int32_t>& slots) {
  const std::size_t size = values.size() * static_cast<std::size_t>(dtype_bytes(work.dtype));
  Bytes bytes = hwy::AllocateAligned<std::byte>(size);
  narrow(work.dtype, values, bytes.get());
  if (slots.empty()) return bytes;
  Bytes moved = hwy::AllocateAligned<std::byte>(size);
  permute_rows(bytes.get(), moved.get(), work.batch, slots, heads * work.head_dim * dtype_bytes(work.dtype),
               1);
  return moved;
}

struct AttentionOutput {
  std::vector<float> o, lse;
};

// A case with its inputs, and the kernel's output for any variant of it.
struct AttentionProblem {
  Case work;
  std::vector<float> q, k, v;

  AttentionProblem(const Case& a_case, Random& random) : work(a_case) {
    const std::int64_t positions = work.batch * work.sequence_length;
    q = random_tensor(random, positions * work.heads, work.head_dim, work.dtype);
    k = random_tensor(random, positions * work.kv_heads, work.head_dim, work.dtype);
    v = random_tensor(random, positions * work.kv_heads, work.head_dim, work.dtype);
  }

  AttentionOutput run(const Implementation& implementation, const KernelChoice& choice, int threads) const {
    EXPECT_EQ(implementation.why_not(work, {choice}), std::nullopt);
    return run_with(*implementation.prepare(work, choice, threads), implementation, choice);
  }

  // By an execution that may have run before.
  AttentionOutput run_with(Execution& execution, const Implementation& implementation,
                           const KernelChoice& choice) const {
    const Index index = case_index(work, choice, implementation.tile_rows(work));
    const Bytes stored_q = stored(q, work, work.heads, index.q_slots);
    const Bytes stored_k = stored(k, work, work.kv_heads, index.k_slots);
    const Bytes stored_v = stored(v, work, work.kv_heads, index.k_slots);
    const std::size_t o_size = q.size() * static_cast<std::size_t>(dtype_bytes(work.dtype));
    const Bytes o = hwy::AllocateAligned<std::byte>(o_size);
    std::memset(o.get(), 0xff, o_size);  // NaN in every dtype
    AttentionOutput output{std::vector<float>(q.size()),
                           std::vector<float>(q.size() / static_cast<std::size_t>(work.head_dim),
                                              std::numeric_limits<float>::quiet_NaN())};
    execution.run({stored_q.get(), stored_k.get(), stored_v.get(), o.get(), output.lse.data()}, index);
    widen(work.dtype, o.get(), output.o);
    return output;
  }
};

// Rows of the oracle, judged as verification does.
struct ExpectedRows {
  std::vector<RowId> ids;
  std::vector<ReferenceRow> rows;
  std::vector<RowScale> scales;

  ExpectedRows(const AttentionProblem& problem, std::vector<RowId> row_ids)
      : ids(std::move(row_ids)), rows(rows_of(problem, ids)), scales(scales_of(problem, ids, rows)) {}

  static std::vector<ReferenceRow> rows_of(const AttentionProblem& problem, const std::vector<RowId>& ids) {
    std::vector<ReferenceRow> rows;
    for (const RowId& id : ids)
      rows.push_back(reference_row(problem.work, {problem.q, problem.k, problem.v}, id));
    return rows;
  }
  static std::vector<RowScale> scales_of(const AttentionProblem& problem, const std::vector<RowId>& ids,
                                         const std::vector<ReferenceRow>& rows) {
    std::vector<RowScale> scales;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const ReferenceRow plain = plain_row(problem.work, {problem.q, problem.k, problem.v}, ids[i]);
      scales.push_back(row_scale(rows[i], plain_errors(plain, rows[i])));
    }
    return scales;
  }

  double largest_lse() const {
    double largest = 0;
    for (const RowScale& scale : scales) largest = std::max(largest, scale.exact_lse);
    return largest;
  }

  // Empty, or the first row that differs.
  std::string mismatch(const Case& work, const AttentionOutput& output, Scores kept = Scores::fp32) const {
    const RowTolerances tolerances(work, scales, kept);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::int64_t place =
          (ids[i].batch * work.sequence_length + ids[i].position) * work.heads + ids[i].head;
      const std::string where = "batch " + std::to_string(ids[i].batch) + " position " +
                                std::to_string(ids[i].position) + " head " + std::to_string(ids[i].head);
      const double lse = output.lse[static_cast<std::size_t>(place)];
      const double o_allowed = tolerances.o(scales[i]), lse_allowed = tolerances.lse(scales[i]);
      const bool uncovered = std::isinf(rows[i].lse);
      if (uncovered ? lse != rows[i].lse : !(std::abs(lse - rows[i].lse) <= lse_allowed))
        return where + ": LSE " + std::to_string(lse) + ", not " + std::to_string(rows[i].lse) + "; off by " +
               in_full(lse - rows[i].lse) + ", allowed " + in_full(lse_allowed);
      for (std::size_t d = 0; d < rows[i].o.size(); ++d) {
        const double o = output.o[static_cast<std::size_t>(place * work.head_dim) + d];
        if (uncovered ? o != 0 : !(std::abs(o - rows[i].o[d]) <= o_allowed))
          return where + ": O[" + std::to_string(d) + "] " + std::to_string(o) + ", not " +
                 std::to_string(rows[i].o[d]) + "; off by " + in_full(o - rows[i].o[d]) + ", allowed " +
                 in_full(o_allowed);
      }
    }
    return {};
  }

  // Small numbers too, which std::to_string() cuts.
  static std::string in_full(double value) {
    std::ostringstream text;
    text << value;
    return text.str();
  }
};

inline std::vector<RowId> every_row(const Case& work) {
  std::vector<RowId> ids;
  for (std::int64_t b = 0; b < work.batch; ++b)
    for (std::int64_t t = 0; t < work.sequence_length; ++t)
      for (std::int64_t h = 0; h < work.heads; ++h) ids.push_back({b, h, t});
  return ids;
}

inline std::vector<RowId> sampled_rows(const Case& work, Random& random, int count) {
  std::vector<RowId> ids;
  for (int i = 0; i < count; ++i)
    ids.push_back({between(random, 0, work.batch - 1), between(random, 0, work.heads - 1),
                   between(random, 0, work.sequence_length - 1)});
  return ids;
}

}  // namespace hilbench
