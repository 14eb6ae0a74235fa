// Faults that kernels with dropout may have: another mask than the case's, or kept pairs that are not scaled.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "harness/measure/drawn_rows.hpp"
#include "harness/measure/key_probe.hpp"
#include "harness/measure/verify.hpp"
#include "kernels/case/pattern.hpp"
#include "kernels/cpu/dilated_cpu.hpp"
#include "tests/harness/measure/right_output.hpp"
#include "tests/harness/measure/whole_tensor.hpp"
#include "tests/kernels/gradient_problem.hpp"

namespace hilbench {
namespace {

// What multiplies the probability of a pair.
using Factor =
    std::function<double(std::int64_t head, std::int64_t branch, std::int64_t query, std::int64_t key)>;

std::vector<float> rounded_values(Dtype dtype, const std::vector<double>& values) {
  std::vector<float> stored;
  for (const double value : values) stored.push_back(round_to(dtype, static_cast<float>(value)));
  return stored;
}

class DropoutFaults : public testing::TestWithParam<Dtype> {
 protected:
  DropoutFaults() : work_(case_of(GetParam())), inputs_(work_, {}, 3) {}

  static Case case_of(Dtype dtype) {
    Case work{.sequence_length = 300,
              .pattern = {{150, 2}, {300, 3}},
              .heads = 2,
              .kv_heads = 1,
              .head_dim = 32,
              .dtype = dtype,
              .mask = Mask::causal};
    work.dropout = 0.125;
    return work;
  }

  double right(std::int64_t head, std::int64_t branch, std::int64_t query, std::int64_t key) const {
    return kept_factor(work_, 0, head, branch, query, key);
  }
  // The place of its query for that of its key.
  Factor transposed() const {
    return [this](auto head, auto branch, auto query, auto key) { return right(head, branch, key, query); };
  }
  // Slots for positions, in an order that turns round each segment of a branch.
  Factor by_slot() const {
    return [this](std::int64_t head, std::int64_t branch, std::int64_t query, std::int64_t key) {
      const Branch& of = work_.pattern[static_cast<std::size_t>(branch)];
      const std::int64_t begin = key / of.segment_length * of.segment_length;
      const std::int64_t last = begin + (of.segment_length - 1) / of.dilation * of.dilation;
      return right(head, branch, query, last - (key - begin));
    };
  }
  Factor unscaled() const {
    return [this](auto head, auto branch, auto query, auto key) {
      return right(head, branch, query, key) > 0 ? 1.0 : 0.0;
    };
  }
  Factor of_case() const {
    return [this](auto head, auto branch, auto query, auto key) { return right(head, branch, query, key); };
  }
  Factor none() const {
    return [](auto, auto, auto, auto) { return 1.0; };
  }

  static double dot(const float* a, const float* b, std::int64_t width) {
    double sum = 0;
    for (std::int64_t d = 0; d < width; ++d) sum += static_cast<double>(a[d]) * b[d];
    return sum;
  }

  // Calls visit(head, query, key, P, factor) for each pair of each branch; `lse` of [position][head].
  template <class Visit>
  void for_each_pair(const std::vector<float>& q, const std::vector<float>& k, const std::vector<float>& lse,
                     const Factor& factor, const Visit& visit) const {
    const double scale = 1 / std::sqrt(static_cast<double>(work_.head_dim));
    for (std::int64_t head = 0; head < work_.heads; ++head)
      for (std::int64_t branch = 0; branch < std::ssize(work_.pattern); ++branch)
        for (std::int64_t query = 0; query < work_.sequence_length; ++query)
          for (const std::int64_t key : visible_keys(work_, head, branch, query)) {
            const std::int64_t row = query * work_.heads + head;
            const double score =
                scale * dot(&q[static_cast<std::size_t>(row * work_.head_dim)],
                            &k[static_cast<std::size_t>(key * work_.head_dim)], work_.head_dim);
            visit(row, key, std::exp(score - lse[static_cast<std::size_t>(row)]),
                  factor(head, branch, query, key));
          }
  }

  std::vector<float> lse_of(const std::vector<float>& q, const std::vector<float>& k,
                            const std::vector<float>& v) const {
    std::vector<float> lse;
    for (const RowId& row : every_row(work_))
      lse.push_back(static_cast<float>(reference_row(work_, {q, k, v}, row).lse));
    return lse;
  }

  // O of a kernel that multiplies probabilities with `factor`.
  Output attended(const std::vector<float>& q, const std::vector<float>& k, const std::vector<float>& v,
                  const std::vector<float>& lse, const Factor& factor) const {
    std::vector<double> o(q.size(), 0.0);
    for_each_pair(q, k, lse, factor, [&](std::int64_t row, std::int64_t key, double p, double kept) {
      for (std::int64_t d = 0; d < work_.head_dim; ++d)
        o[static_cast<std::size_t>(row * work_.head_dim + d)] +=
            p * kept * v[static_cast<std::size_t>(key * work_.head_dim + d)];
    });
    return {rounded_values(work_.dtype, o), lse};
  }

  Case work_;
  InputTensors inputs_;
};

TEST_P(DropoutFaults, ShowInTheOutput) {
  const std::vector<float> q = whole(inputs_, Tensor::q), k = whole(inputs_, Tensor::k),
                           v = whole(inputs_, Tensor::v);
  const Oracle oracle = make_oracle(work_, inputs_, {}, drawn_rows(work_, 1, kSampledRows), 2);
  const std::vector<float> lse = lse_of(q, k, v);
  const auto fault_of = [&](const Factor& factor) {
    const Output output = attended(q, k, v, lse, factor);
    return verify_output(work_, oracle, reader(output), 2).fault;
  };
  EXPECT_FALSE(fault_of(of_case())) << *fault_of(of_case());
  EXPECT_TRUE(fault_of(transposed()));
  EXPECT_TRUE(fault_of(by_slot()));
  EXPECT_TRUE(fault_of(unscaled()));
  EXPECT_TRUE(fault_of(none()));
}

TEST_P(DropoutFaults, ShowInEachGradient) {
  Random random(1);
  GradientProblem problem(work_, random);
  problem.q = whole(inputs_, Tensor::q), problem.k = whole(inputs_, Tensor::k);
  problem.v = whole(inputs_, Tensor::v), problem.d_o = whole(inputs_, Tensor::d_o);
  problem.work.pass = Pass::forward;
  problem.start_from_forward();
  const Case work = problem.work;
  const auto width = static_cast<std::size_t>(work.head_dim);
  ForwardRows forward{.lse = problem.lse, .delta = {}, .delta_size = {}};
  for (std::size_t at = 0; at < problem.o.size(); at += width) {
    const Delta delta =
        delta_of(std::span(problem.d_o).subspan(at, width), std::span(problem.o).subspan(at, width));
    forward.delta.push_back(delta.value);
    forward.delta_size.push_back(delta.size);
  }
  const DrawnRows rows = drawn(work, 1, kSampledRows);
  Oracle oracle;
  oracle.gradients = make_gradient_oracle(work, InputTensors(work, {}, 3), forward, rows.rows, rows.keys, 2);
  const double scale = 1 / std::sqrt(static_cast<double>(width));
  const auto gradients_with = [&](const Factor& factor) {
    std::vector<double> d_q(problem.q.size()), d_k(problem.k.size()), d_v(problem.v.size());
    for_each_pair(problem.q, problem.k, problem.lse, factor,
                  [&](std::int64_t row, std::int64_t key, double p, double kept) {
                    const std::size_t i = static_cast<std::size_t>(row) * width,
                                      j = static_cast<std::size_t>(key) * width;
                    const double d_p = kept * dot(&problem.d_o[i], &problem.v[j], work.head_dim);
                    const double d_s = scale * p * (d_p - forward.delta[static_cast<std::size_t>(row)]);
                    for (std::size_t d = 0; d < width; ++d) {
                      d_q[i + d] += d_s * problem.k[j + d];
                      d_k[j + d] += d_s * problem.q[i + d];
                      d_v[j + d] += kept * p * problem.d_o[i + d];
                    }
                  });
    return OfGradients<std::vector<float>>{rounded_values(work.dtype, d_q), rounded_values(work.dtype, d_k),
                                           rounded_values(work.dtype, d_v)};
  };
  const auto fault_of = [&](const OfGradients<std::vector<float>>& gradients) {
    OutputReader output;
    for (std::size_t i = 0; i < gradients.size(); ++i)
      output.gradients[i] = [&values = gradients[i]](std::int64_t first, std::span<float> to) {
        std::copy_n(values.begin() + first, to.size(), to.begin());
      };
    return verify_output(work, oracle, output, 2).fault;
  };
  const OfGradients<std::vector<float>> right_ones = gradients_with(of_case());
  ASSERT_FALSE(fault_of(right_ones)) << *fault_of(right_ones);
  for (const Factor& factor : {transposed(), by_slot(), unscaled(), none()}) {
    const OfGradients<std::vector<float>> wrong = gradients_with(factor);
    for (const Gradient which : kGradients) {
      OfGradients<std::vector<float>> one = right_ones;
      one[number_of(which)] = wrong[number_of(which)];
      EXPECT_TRUE(fault_of(one)) << to_string(which);
    }
  }
  if (kDilatedCpu.why_not(work, {})) return;
  Gradients of_kernel = problem.run(kDilatedCpu, {}, 2);
  const OfGradients<std::vector<float>> computed = {of_kernel.q, of_kernel.k, of_kernel.v};
  EXPECT_FALSE(fault_of(computed)) << *fault_of(computed);
}

// The key probe counts what is kept: each row that it looks at sums other keys than its neighbour.
TEST_P(DropoutFaults, ShowInTheKeyProbe) {
  const InputTensors inputs = InputTensors::key_probe(work_, 3);
  const KeyProbe probe = make_key_probe(work_, inputs, {}, 5, 2);
  const std::vector<float> q = whole(inputs, Tensor::q),
                           k(static_cast<std::size_t>(inputs.size(Tensor::k)), 0.0f),
                           v = whole(inputs, Tensor::v);
  const std::vector<float> lse = lse_of(q, k, v);
  const auto fault_of = [&](const Factor& factor) {
    const Output output = attended(q, k, v, lse, factor);
    return probe_fault(compare_probe(work_, probe, reader(output), all_rows(work_), 2));
  };
  EXPECT_FALSE(fault_of(of_case())) << *fault_of(of_case());
  EXPECT_TRUE(fault_of(transposed()));
  EXPECT_TRUE(fault_of(by_slot()));
  EXPECT_TRUE(fault_of(unscaled()));
  const Factor one_missing = [this](std::int64_t head, std::int64_t branch, std::int64_t query,
                                    std::int64_t key) {
    return query == 297 && key == 153 ? 0.0 : right(head, branch, query, key);
  };
  const bool kept = right(0, 1, 297, 153) > 0 || right(1, 1, 297, 153) > 0;
  EXPECT_EQ(fault_of(one_missing).has_value(), kept);
}

INSTANTIATE_TEST_SUITE_P(Dtypes, DropoutFaults, testing::Values(Dtype::fp32, Dtype::bf16));

}  // namespace
}  // namespace hilbench
