// A backward problem with random inputs, a CPU kernel's gradients for it, and what the oracle expects.
#pragma once

#include <string>
#include <vector>

#include "baselines/gradient_tolerance.hpp"
#include "kernels/case/pattern.hpp"
#include "tests/kernels/attention_problem.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {

struct Gradients {
  std::vector<float> q, k, v;  // in position order
};

// O and LSE are those of the exact forward pass, rounded as a kernel rounds them.
struct GradientProblem : AttentionProblem {
  std::vector<float> d_o, o, lse;

  GradientProblem(const Case& a_case, Random& random) : AttentionProblem(a_case, random) {
    d_o = random_tensor(random, work.batch * work.sequence_length * work.heads, work.head_dim, work.dtype);
    start_from_forward();
  }

  // Once q, k or v are others.
  void start_from_forward() {
    const std::vector<RowId> rows = every_row(work);
    const auto width = static_cast<std::size_t>(work.head_dim);
    o.resize(rows.size() * width), lse.resize(rows.size());
#pragma omp parallel for schedule(dynamic) if (!kSanitized)
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const ReferenceRow exact = reference_row(work, {q, k, v}, rows[i]);
      for (std::size_t d = 0; d < width; ++d)
        o[i * width + d] = round_to(work.dtype, static_cast<float>(exact.o[d]));
      lse[i] = static_cast<float>(exact.lse);
    }
    work.pass = Pass::backward;
  }

  Gradients run(const Implementation& implementation, const KernelChoice& choice, int threads) const {
    EXPECT_EQ(implementation.why_not(work, {choice}), std::nullopt);
    return run_with(*implementation.prepare(work, choice, threads), implementation, choice);
  }

  Gradients run_with(Execution& execution, const Implementation& implementation,
                     const KernelChoice& choice) const {
    const Index index = case_index(work, choice, implementation.tile_rows(work));
    execution.load(index);
    const Bytes stored_q = stored(q, work, work.heads, index.q_slots);
    const Bytes stored_k = stored(k, work, work.kv_heads, index.k_slots);
    const Bytes stored_v = stored(v, work, work.kv_heads, index.k_slots);
    const Bytes stored_d_o = stored(d_o, work, work.heads, index.q_slots);
    const Bytes stored_o = stored(o, work, work.heads, {});
    std::vector<float> kept_lse = lse;
    const auto poisoned = [&](std::size_t elements) {
      const std::size_t bytes = elements * static_cast<std::size_t>(dtype_bytes(work.dtype));
      Bytes to = hwy::AllocateAligned<std::byte>(bytes);
      std::memset(to.get(), 0xff, bytes);  // NaN in every dtype
      return to;
    };
    const Bytes d_q = poisoned(q.size()), d_k = poisoned(k.size()), d_v = poisoned(v.size());
    execution.run({.q = stored_q.get(),
                   .k = stored_k.get(),
                   .v = stored_v.get(),
                   .o = stored_o.get(),
                   .lse = kept_lse.data(),
                   .d_o = stored_d_o.get(),
                   .d_q = d_q.get(),
                   .d_k = d_k.get(),
                   .d_v = d_v.get()},
                  index);
    return {in_positions(d_q, q.size(), work.heads, index.q_slots),
            in_positions(d_k, k.size(), work.kv_heads, index.k_slots),
            in_positions(d_v, v.size(), work.kv_heads, index.k_slots)};
  }

  GradientInputs inputs() const {
    return {{q, k, v}, d_o, o, lse};
  }

  // Elements in the slots of a tensor, as floats in position order.
  std::vector<float> in_positions(const Bytes& from, std::size_t elements, std::int64_t heads,
                                  const std::vector<std::int32_t>& slots) const {
    std::vector<float> values(elements);
    Bytes moved;
    if (!slots.empty()) {
      moved = hwy::AllocateAligned<std::byte>(elements * static_cast<std::size_t>(dtype_bytes(work.dtype)));
      unpermute_rows(from.get(), moved.get(), work.batch, slots,
                     heads * work.head_dim * dtype_bytes(work.dtype), 1);
    }
    widen(work.dtype, moved ? moved.get() : from.get(), values);
    return values;
  }
};

// Rows of the oracle, judged as verification does.
class ExpectedGradients {
 public:
  // `rows` rows of each gradient, or all if there are not more.
  ExpectedGradients(const GradientProblem& problem, int rows, Random& random) : work_(problem.work) {
    const GradientInputs inputs = problem.inputs();
    for (const RowId& row : some_rows(work_.heads, rows, random)) {
      const GradientRow exact = reference_query_gradient(work_, Arithmetic::exact, inputs, row);
      const GradientRow plain = reference_query_gradient(work_, Arithmetic::plain, inputs, row);
      const auto at = (row.batch * work_.sequence_length + row.position) * work_.heads + row.head;
      d_q_.add(row, exact, gradient_scale(exact, plain, inputs.lse[static_cast<std::size_t>(at)]));
    }
    for (const RowId& row : some_rows(work_.kv_heads, rows, random)) {
      const KeyGradient exact = reference_key_gradient(work_, Arithmetic::exact, inputs, row);
      const KeyGradient plain = reference_key_gradient(work_, Arithmetic::plain, inputs, row);
      double lse = 0;
      for (const float each : inputs.lse)
        if (std::isfinite(each)) lse = std::max(lse, std::abs(static_cast<double>(each)));
      d_k_.add(row, exact.k, gradient_scale(exact.k, plain.k, lse));
      d_v_.add(row, exact.v, gradient_scale(exact.v, plain.v, lse));
    }
  }

  // Empty, or the first row that differs.
  std::string mismatch(const Gradients& gradients) const {
    for (const auto& [name, expected, found, heads] : {std::tuple("dQ", &d_q_, &gradients.q, work_.heads),
                                                       std::tuple("dK", &d_k_, &gradients.k, work_.kv_heads),
                                                       std::tuple("dV", &d_v_, &gradients.v, work_.kv_heads)})
      if (const std::string text = mismatch_of(*expected, *found, heads); !text.empty())
        return std::string(name) + " " + text;
    return {};
  }

 private:
  struct Rows {
    std::vector<RowId> ids;
    std::vector<GradientRow> rows;
    std::vector<GradientScale> scales;
    void add(const RowId& id, const GradientRow& row, const GradientScale& scale) {
      ids.push_back(id), rows.push_back(row), scales.push_back(scale);
    }
  };

  std::vector<RowId> some_rows(std::int64_t heads, int rows, Random& random) const {
    Case work = work_;
    work.heads = heads;
    return std::ssize(every_row(work)) <= rows ? every_row(work) : sampled_rows(work, random, rows);
  }

  std::string mismatch_of(const Rows& expected, const std::vector<float>& found, std::int64_t heads) const {
    const GradientTolerances tolerances(work_, expected.scales);
    for (const float value : found)
      if (!std::isfinite(value)) return "has a value that is not finite";
    for (std::size_t i = 0; i < expected.ids.size(); ++i) {
      const RowId& id = expected.ids[i];
      const auto at = static_cast<std::size_t>(
          ((id.batch * work_.sequence_length + id.position) * heads + id.head) * work_.head_dim);
      const double allowed = tolerances.of(expected.scales[i]);
      for (std::size_t d = 0; d < expected.rows[i].values.size(); ++d) {
        const double value = found[at + d], exact = expected.rows[i].values[d];
        if (expected.rows[i].pairs == 0 ? value == 0 : std::abs(value - exact) <= allowed) continue;
        std::ostringstream text;
        text << "of batch " << id.batch << " position " << id.position << " head " << id.head << ": [" << d
             << "] " << value << ", not " << exact << "; off by " << value - exact << ", allowed " << allowed;
        return text.str();
      }
    }
    return {};
  }

  const Case work_;
  Rows d_q_, d_k_, d_v_;
};

}  // namespace hilbench
