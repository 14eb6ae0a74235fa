// Faults that kernels of the backward pass may have, planted in right gradients.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "harness/measure/drawn_rows.hpp"
#include "harness/measure/key_probe.hpp"
#include "harness/measure/verify.hpp"
#include "kernels/case/pattern.hpp"
#include "kernels/cpu/dilated_cpu.hpp"
#include "tests/kernels/gradient_problem.hpp"

namespace hilbench {
namespace {

using Tensors = OfGradients<std::vector<float>>;

OutputReader reader_of(const Tensors& gradients) {
  OutputReader reader;
  for (std::size_t i = 0; i < gradients.size(); ++i)
    reader.gradients[i] = [&values = gradients[i]](std::int64_t first, std::span<float> to) {
      std::copy_n(values.begin() + first, to.size(), to.begin());
    };
  return reader;
}

std::vector<float> all_values(const InputTensors& inputs, Tensor which) {
  std::vector<float> values(static_cast<std::size_t>(inputs.size(which)));
  inputs.read(which, 0, values);
  return values;
}

KernelChoice linear() {
  KernelChoice choice;
  choice.name = "dilated_cpu";
  return choice;
}

// Two branches, K/V heads that two heads share, a causal mask, rows that no branch covers, and tails.
class GradientFaults : public testing::TestWithParam<Dtype> {
 protected:
  static constexpr std::int64_t kTile = 64;

  GradientFaults() : problem_(made(GetParam())), rows_(drawn(work(), 1, kSampledRows)) {
    ForwardRows forward{.lse = problem_.lse, .delta = {}, .delta_size = {}};
    const std::size_t width = static_cast<std::size_t>(work().head_dim);
    for (std::size_t at = 0; at < problem_.o.size(); at += width) {
      const Delta delta =
          delta_of(std::span(problem_.d_o).subspan(at, width), std::span(problem_.o).subspan(at, width));
      forward.delta.push_back(delta.value);
      forward.delta_size.push_back(delta.size);
    }
    oracle_.gradients = make_gradient_oracle(work(), inputs(), forward, rows_.rows, rows_.keys, 2);
    right_ = gradients_of(problem_);
  }

  static GradientProblem made(Dtype dtype) {
    Case work{.sequence_length = 500,
              .pattern = {{250, 2}, {400, 3}},
              .heads = 4,
              .kv_heads = 2,
              .head_dim = 32,
              .dtype = dtype,
              .mask = Mask::causal,
              .pass = Pass::backward};
    Random random(1);
    GradientProblem problem(work, random);
    const InputTensors inputs(problem.work, {}, 3);
    problem.q = all_values(inputs, Tensor::q), problem.k = all_values(inputs, Tensor::k);
    problem.v = all_values(inputs, Tensor::v), problem.d_o = all_values(inputs, Tensor::d_o);
    problem.start_from_forward();
    return problem;
  }
  const Case& work() const { return problem_.work; }
  InputTensors inputs() const { return InputTensors(work(), {}, 3); }

  static Tensors gradients_of(const GradientProblem& problem) {
    Gradients gradients = problem.run(kDilatedCpu, linear(), 2);
    return {std::move(gradients.q), std::move(gradients.k), std::move(gradients.v)};
  }
  std::optional<std::string> fault_of(const Tensors& gradients) const {
    return verify_output(work(), oracle_, reader_of(gradients), 2).fault;
  }
  void expect_fault(const std::function<void(Tensors&)>& plant, const std::string& what) const {
    Tensors faulty = right_;
    plant(faulty);
    EXPECT_TRUE(fault_of(faulty)) << what;
  }
  // Of a kernel that computes with other operands than it should.
  void expect_fault_of(const std::function<void(GradientProblem&)>& change, std::vector<Gradient> wrong,
                       const std::string& what) const {
    GradientProblem other = problem_;
    change(other);
    const Tensors all = gradients_of(other);
    for (const Gradient which : wrong)
      expect_fault([&](Tensors& tensors) { tensors[number_of(which)] = all[number_of(which)]; },
                   what + ", " + std::string(to_string(which)));
  }

  std::size_t q_row(std::int64_t head, std::int64_t position) const {
    return static_cast<std::size_t>((position * work().heads + head) * work().head_dim);
  }
  std::size_t kv_row(std::int64_t head, std::int64_t position) const {
    return static_cast<std::size_t>((position * work().kv_heads + head) * work().head_dim);
  }
  // Adds `times` what one pair of a query and a key brings to the gradients.
  void add_pair(Tensors& to, std::int64_t head, std::int64_t query, std::int64_t key, double times) const {
    const std::size_t i = q_row(head, query), j = kv_row(kv_head_of(work(), head), key);
    const auto width = static_cast<std::size_t>(work().head_dim);
    double score = 0, d_p = 0, delta = 0;
    for (std::size_t d = 0; d < width; ++d) {
      score += static_cast<double>(problem_.q[i + d]) * problem_.k[j + d];
      d_p += static_cast<double>(problem_.d_o[i + d]) * problem_.v[j + d];
      delta += static_cast<double>(problem_.d_o[i + d]) * problem_.o[i + d];
    }
    const double scale = 1 / std::sqrt(static_cast<double>(width));
    const double p = std::exp(score * scale - problem_.lse[i / width]), d_s = p * (d_p - delta) * scale;
    for (std::size_t d = 0; d < width; ++d) {
      to[0][i + d] += static_cast<float>(times * d_s * problem_.k[j + d]);
      to[1][j + d] += static_cast<float>(times * d_s * problem_.q[i + d]);
      to[2][j + d] += static_cast<float>(times * p * problem_.d_o[i + d]);
    }
  }
  // The pairs of some queries and keys of head 0 and branch 0.
  void add_block(Tensors& to, std::int64_t first_query, std::int64_t first_key, double times) const {
    for (std::int64_t query = first_query; query < first_query + kTile; ++query)
      for (const std::int64_t key : visible_keys(work(), 0, 0, query))
        if (key >= first_key && key < first_key + kTile) add_pair(to, 0, query, key, times);
  }

  const GradientProblem problem_;
  const DrawnRows rows_;
  Oracle oracle_;
  Tensors right_;
};

TEST_P(GradientFaults, ShowAndRightGradientsPass) {
  if (kDilatedCpu.why_not(work(), {linear()})) GTEST_SKIP() << "the kernel does not run here";
  const auto fault = fault_of(right_);
  ASSERT_FALSE(fault) << *fault;
  const auto width = static_cast<std::size_t>(work().head_dim);
  const double root = std::sqrt(static_cast<double>(width));
  const auto scale_by = [](std::vector<float>& values, double factor) {
    for (float& value : values) value = static_cast<float>(value * factor);
  };
  expect_fault([&](Tensors& t) { add_block(t, 128, 64, -1); }, "a tile pair skipped");
  expect_fault([&](Tensors& t) { add_block(t, 128, 64, 1); }, "a tile pair doubled");
  for (const Gradient which : kGradients)
    expect_fault(
        [&](Tensors& t) {
          Tensors all = t;
          add_block(all, 128, 64, -1);
          t[number_of(which)] = all[number_of(which)];
        },
        "a tile pair skipped in one gradient alone");
  expect_fault(
      [&](Tensors& t) {
        Tensors rest = t;
        add_block(rest, 192, 192, -1);
        for (std::size_t i = q_row(0, 192); i < q_row(0, 192 + kTile); i += q_row(0, 1))
          for (std::size_t d = 0; d < width; ++d) t[0][i + d] -= rest[0][i + d];
      },
      "dQ stored instead of added");
  expect_fault(
      [&](Tensors& t) {
        for (std::size_t i = q_row(0, 192); i < q_row(0, 192 + kTile); ++i)
          t[0][i] += right_[0][i - q_row(0, kTile)];
      },
      "a stale dQ buffer");
  expect_fault_of(
      [&](GradientProblem& other) {
        Case first = other.work;
        first.pattern.pop_back(), first.pass = Pass::forward;
        std::size_t at = 0;
        for (const RowId& row : every_row(first)) {
          const ReferenceRow of_branch = reference_row(first, {other.q, other.k, other.v}, row);
          if (std::isfinite(of_branch.lse)) other.lse[at] = static_cast<float>(of_branch.lse);
          ++at;
        }
      },
      {Gradient::q, Gradient::k, Gradient::v}, "the LSE of a branch for that of all");
  expect_fault_of([](GradientProblem& other) { std::ranges::fill(other.o, 0.0f); },
                  {Gradient::q, Gradient::k}, "D omitted");
  expect_fault([&](Tensors& t) { scale_by(t[0], root); }, "dQ without the scale");
  expect_fault([&](Tensors& t) { scale_by(t[1], 1 / root); }, "dK with the scale squared");
  expect_fault_of(
      [&](GradientProblem& other) {
        for (std::int64_t position = 0; position < other.work.sequence_length; ++position)
          std::fill_n(other.d_o.begin() + static_cast<std::ptrdiff_t>(q_row(1, position)), width, 0.0f);
      },
      {Gradient::k, Gradient::v}, "one head of a group lost");
  expect_fault(
      [&](Tensors& t) {
        for (std::int64_t position = 0; position < 250; position += 2) add_pair(t, 0, position, position, -1);
      },
      "the diagonal left out");
  expect_fault(
      [&](Tensors& t) {
        for (std::int64_t position = 0; position + 2 < 250; position += 2)
          add_pair(t, 0, position, position + 2, 1);
      },
      "a diagonal too many");
  expect_fault([&](Tensors& t) { add_pair(t, 0, 250, 248, 1); },
               "the tail of a segment seen by the next one");
  expect_fault_of(
      [&](GradientProblem& other) {
        std::rotate(other.d_o.begin(), other.d_o.begin() + static_cast<std::ptrdiff_t>(q_row(0, 1)),
                    other.d_o.end());
      },
      {Gradient::q, Gradient::k, Gradient::v}, "dO by the slots of its neighbours");
}

TEST_P(GradientFaults, WhatNobodySeesIsWrittenAsZeros) {
  if (kDilatedCpu.why_not(work(), {linear()})) GTEST_SKIP() << "the kernel does not run here";
  std::int64_t uncovered = -1;
  for (const RowId& row : rows_.rows)
    if (row.head == 0 && visible_keys(work(), 0, 0, row.position).empty() &&
        visible_keys(work(), 0, 1, row.position).empty())
      uncovered = row.position;
  ASSERT_GE(uncovered, 0);
  const std::size_t i = q_row(0, uncovered);
  EXPECT_EQ(right_[0][i], 0);
  expect_fault([&](Tensors& t) { t[0][i] = std::numeric_limits<float>::quiet_NaN(); },
               "NaN for a row without keys");
  expect_fault([&](Tensors& t) { t[0][i] = 1e-20f; }, "something small for a row without keys");
  expect_fault([&](Tensors& t) { t[2].back() = std::numeric_limits<float>::quiet_NaN(); },
               "a key that is not written");
}

// dV added up in the dtype, as a kernel would that keeps its sums in its tensors: right in fp32, wrong in
// bf16.
TEST_P(GradientFaults, SumsInBf16Show) {
  if (kDilatedCpu.why_not(work(), {linear()})) GTEST_SKIP() << "the kernel does not run here";
  Tensors summed = right_;
  const auto width = static_cast<std::size_t>(work().head_dim);
  for (std::int64_t key = 0; key < work().sequence_length; ++key)
    for (std::int64_t kv_head = 0; kv_head < work().kv_heads; ++kv_head) {
      std::vector<float> sum(width, 0.0f);
      for (std::int64_t head = 0; head < work().heads; ++head)
        for (std::int64_t b = 0; kv_head_of(work(), head) == kv_head && b < 2; ++b)
          for (const std::int64_t query : seeing_queries(work(), head, b, key)) {
            const std::size_t i = q_row(head, query), j = kv_row(kv_head, key);
            double score = 0;
            for (std::size_t d = 0; d < width; ++d)
              score += static_cast<double>(problem_.q[i + d]) * problem_.k[j + d];
            const double p =
                std::exp(score / std::sqrt(static_cast<double>(width)) - problem_.lse[i / width]);
            for (std::size_t d = 0; d < width; ++d)
              sum[d] = round_to(work().dtype, sum[d] + static_cast<float>(p * problem_.d_o[i + d]));
          }
      std::ranges::copy(sum, summed[2].begin() + static_cast<std::ptrdiff_t>(kv_row(kv_head, key)));
    }
  EXPECT_EQ(fault_of(summed).has_value(), GetParam() == Dtype::bf16);
}
INSTANTIATE_TEST_SUITE_P(Dtypes, GradientFaults, testing::Values(Dtype::fp32, Dtype::bf16));

// A tile of 64 queries and 64 keys, of 65536: seen by the probe in each gradient.
class LongGradients : public testing::TestWithParam<std::tuple<Mask, Dtype>> {};

TEST_P(LongGradients, ATilePairThatIsMissingShows) {
  constexpr std::int64_t kLength = 1 << 16, kTile = 64, kFirstQuery = 48 * 1024, kFirstKey = 1024;
  const auto [mask, dtype] = GetParam();
  const Case work{.sequence_length = kLength,
                  .pattern = {{kLength, 1}},
                  .heads = 1,
                  .kv_heads = 1,
                  .head_dim = 32,
                  .dtype = dtype,
                  .mask = mask,
                  .pass = Pass::backward};
  const InputTensors inputs = InputTensors::key_probe(work, 3);
  const GradientProbe probe = make_gradient_probe(work, inputs, 5, 2);
  const auto width = static_cast<std::size_t>(work.head_dim);
  Tensors right;
  for (const Gradient which : kGradients) {
    const ProbedGradient& expected = probe.gradients[number_of(which)];
    std::vector<float>& values = right[number_of(which)];
    values.resize(static_cast<std::size_t>(kLength) * width);
    for (std::size_t row = 0; row < expected.rows.size(); ++row)
      for (std::size_t d = 0; d < width; ++d)
        values[static_cast<std::size_t>(expected.rows[row].position) * width + d] =
            round_to(dtype, static_cast<float>(expected.values[row * width + d]));
  }
  const auto fault_of = [&](const Tensors& gradients) {
    return probe_fault(compare_gradient_probe(work, probe, reader_of(gradients), 2));
  };
  ASSERT_FALSE(fault_of(right)) << *fault_of(right);
  const std::vector<float> q = all_values(inputs, Tensor::q), k = all_values(inputs, Tensor::k);
  const std::vector<float> v = all_values(inputs, Tensor::v), d_o = all_values(inputs, Tensor::d_o);
  std::vector<double> mean(static_cast<std::size_t>(kLength));  // of the signs that a query sees
  double sum = 0;
  for (std::size_t t = 0; t < mean.size(); ++t) {
    sum += v[t * width] * v[0];
    mean[t] = sum / static_cast<double>(t + 1);
  }
  if (mask == Mask::full) std::ranges::fill(mean, mean.back());
  Tensors missing = right;
  const double scale = 1 / std::sqrt(static_cast<double>(width));
  for (std::size_t i = kFirstQuery; i < kFirstQuery + kTile; ++i)
    for (std::size_t j = kFirstKey; j < kFirstKey + kTile; ++j) {
      const double n = mask == Mask::full ? static_cast<double>(kLength) : static_cast<double>(i + 1);
      double g = 0;
      for (std::size_t d = 0; d < width; ++d) g += static_cast<double>(d_o[i * width + d]) * v[d] * v[0];
      const double d_s = scale * g / n * (v[j * width] * v[0] - mean[i]);
      for (std::size_t d = 0; d < width; ++d) {
        missing[0][i * width + d] -= static_cast<float>(d_s * k[j * width + d]);
        missing[1][j * width + d] -= static_cast<float>(d_s * q[i * width + d]);
        missing[2][j * width + d] -= static_cast<float>(d_o[i * width + d] / n);
      }
    }
  for (const Gradient which : kGradients) {
    Tensors faulty = right;
    faulty[number_of(which)] = missing[number_of(which)];
    EXPECT_TRUE(fault_of(faulty)) << to_string(which);
  }
}
INSTANTIATE_TEST_SUITE_P(Masks, LongGradients,
                         testing::Combine(testing::Values(Mask::full, Mask::causal),
                                          testing::Values(Dtype::fp32, Dtype::bf16)));

}  // namespace
}  // namespace hilbench
