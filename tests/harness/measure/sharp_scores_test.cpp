// Faults planted in right outputs of rows whose scores are sharp, or as large as the dtype holds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "harness/measure/verify.hpp"
#include "tests/harness/measure/right_output.hpp"

namespace hilbench {
namespace {

constexpr Dtype kEveryDtype[] = {Dtype::fp32, Dtype::bf16, Dtype::fp16};
constexpr float kInfinite = std::numeric_limits<float>::infinity();

using Values = std::vector<float>;

// One head over all keys.
struct Problem {
  Case work;
  Values q, k, v;
  Oracle oracle;
  Output right;

  Problem(Dtype dtype, std::int64_t length, std::int64_t head_dim, float score_scale) {
    work = {.sequence_length = length,
            .pattern = {{length, 1}},
            .heads = 1,
            .kv_heads = 1,
            .head_dim = head_dim,
            .dtype = dtype};
    std::mt19937_64 random(7);
    std::normal_distribution<float> normal;
    for (Values* values : {&q, &k, &v})
      for (std::int64_t i = 0; i < length * head_dim; ++i)
        values->push_back(round_to(dtype, normal(random) * (values == &q ? score_scale : 1)));
  }

  std::size_t width() const { return static_cast<std::size_t>(work.head_dim); }
  std::size_t rows() const { return static_cast<std::size_t>(work.sequence_length); }
  void fill(Values& values, std::size_t row, float value) const {
    std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(row * width()), width(),
                round_to(work.dtype, value));
  }

  // To be called when the inputs stand.
  void expect_right_output_to_pass() {
    evaluate();
    const auto fault = fault_of(right);
    ASSERT_FALSE(fault) << case_id(work) << ": " << *fault;
  }
  void evaluate() {
    for (std::int64_t i = 0; i < work.sequence_length; ++i) {
      const RowId row{.position = i};
      oracle.rows.push_back(row);
      oracle.expected.push_back(reference_row(work, {q, k, v}, row));
      oracle.plain.push_back(plain_errors(plain_row(work, {q, k, v}, row), oracle.expected.back()));
    }
    right = right_output(work, oracle);
  }

  std::optional<std::string> fault_of(const Output& output, Scores scores = Scores::fp32) const {
    return verify_output(work, oracle, reader(output), 1, scores).fault;
  }
  void expect_fault(const Output& output, const std::string& what) const {
    EXPECT_TRUE(fault_of(output)) << what << " passes: " << case_id(work);
  }

  std::vector<double> probabilities(std::size_t row) const {
    std::vector<double> p(rows(), 0);
    for (std::size_t j = 0; j < rows(); ++j) {
      for (std::size_t d = 0; d < width(); ++d) p[j] += double{q[row * width() + d]} * k[j * width() + d];
      p[j] = std::exp(p[j] / std::sqrt(static_cast<double>(width())) - oracle.expected[row].lse);
    }
    return p;
  }
  // Numbers of the keys, the most probable first.
  std::vector<std::size_t> by_probability(std::size_t row) const {
    const std::vector<double> p = probabilities(row);
    std::vector<std::size_t> keys(rows());
    std::iota(keys.begin(), keys.end(), 0);
    std::sort(keys.begin(), keys.end(), [&](std::size_t a, std::size_t b) { return p[a] > p[b]; });
    return keys;
  }
  // The right output, with a row computed from these keys, whose values are those of other keys.
  Output with_row_of(std::size_t row, const std::vector<std::size_t>& keys,
                     const std::vector<std::size_t>& values) const {
    Values some_k, some_v;
    const auto append = [&](Values& to, const Values& from, std::size_t key) {
      to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(key * width()),
                from.begin() + static_cast<std::ptrdiff_t>((key + 1) * width()));
    };
    for (const std::size_t key : keys) append(some_k, k, key);
    for (const std::size_t key : values) append(some_v, v, key);
    const ReferenceRow seen =
        attend(work, Arithmetic::exact, &q[row * width()], some_k.data(), some_v.data(), std::ssize(keys));
    Output output = right;
    for (std::size_t d = 0; d < width(); ++d)
      output.o[row * width() + d] = round_to(work.dtype, static_cast<float>(seen.o[d]));
    output.lse[row] = static_cast<float>(seen.lse);
    return output;
  }
};

void plant_zeros(const Problem& problem, std::size_t row) {
  Output output = problem.right;
  problem.fill(output.o, row, 0);
  problem.expect_fault(output, "a row of zeros");
}

void plant_wrong_lse(const Problem& problem, std::size_t row) {
  const float lse = problem.right.lse[row], step = std::max(1e-2f, 1e-5f * std::abs(lse));
  for (const float wrong : {lse + step, lse - step, kInfinite, -kInfinite, std::nanf("")}) {
    Output output = problem.right;
    output.lse[row] = wrong;
    problem.expect_fault(output, "LSE " + std::to_string(wrong) + " for " + std::to_string(lse));
  }
}

void plant_wrong_keys(const Problem& problem, std::size_t row) {
  const std::vector<std::size_t> keys = problem.by_probability(row);
  const std::vector<std::size_t> others(keys.begin() + 1, keys.end());
  Output output = problem.with_row_of(row, others, others);
  problem.expect_fault(output, "a row without its first key");
  output.lse = problem.right.lse;
  problem.expect_fault(output, "an O without its first key");
  std::vector<std::size_t> swapped = keys;
  std::swap(swapped.front(), swapped.back());
  problem.expect_fault(problem.with_row_of(row, keys, swapped), "a value in place of another");
}

// The least probable keys that have 1 % of a row; false if this row has none with more than 0.8 %.
bool plant_missing_mass(const Problem& problem, std::size_t row) {
  const std::vector<double> p = problem.probabilities(row);
  std::vector<std::size_t> keys = problem.by_probability(row);
  double missing = 0;
  while (missing + p[keys.back()] < 0.01) {
    missing += p[keys.back()];
    keys.pop_back();
  }
  if (missing < 0.008) return false;
  problem.expect_fault(problem.with_row_of(row, keys, keys),
                       std::to_string(keys.size()) + " keys of " + std::to_string(p.size()));
  return true;
}

TEST(SharpScores, FaultsShow) {
  for (const Dtype dtype : kEveryDtype)
    for (const float scale : {1.0f, 4.0f, 10.0f}) {
      Problem problem(dtype, 512, 64, scale);
      problem.expect_right_output_to_pass();
      int missing = 0;
      for (std::size_t row = 0; row < problem.rows(); row += 8) {
        plant_zeros(problem, row);
        plant_wrong_lse(problem, row);
        plant_wrong_keys(problem, row);
        missing += plant_missing_mass(problem, row);
      }
      EXPECT_GT(missing, 10) << case_id(problem.work);
    }
}

// One key has the score of size^2 sqrt(head_dim), others some of size.
TEST(SharpScores, FaultsShowWhereOneScoreIsHuge) {
  for (const Dtype dtype : kEveryDtype)
    for (const float size : {900.0f, 6e4f, 8e9f}) {
      if (dtype == Dtype::fp16 && size > 6e4f) continue;
      Problem problem(dtype, 40, 32, 1);
      for (std::size_t row = 0; row < problem.rows(); ++row) problem.fill(problem.q, row, size);
      problem.fill(problem.k, 5, size);
      problem.expect_right_output_to_pass();
      for (std::size_t row = 0; row < problem.rows(); row += 7) {
        plant_zeros(problem, row);
        plant_wrong_lse(problem, row);
        plant_wrong_keys(problem, row);
      }
      Output zeros = problem.right;
      std::fill(zeros.o.begin(), zeros.o.end(), 0.0f);
      problem.expect_fault(zeros, "an output of zeros");
    }
}

// Two huge scores, equal but for a rounding: whatever fp32 makes of them, zeros are wrong.
TEST(SharpScores, ZerosShowWhereFp32CannotTellTwoKeys) {
  for (const Dtype dtype : kEveryDtype) {
    Problem problem(dtype, 40, 32, 1);
    for (std::size_t row = 0; row < problem.rows(); ++row) problem.fill(problem.q, row, 6e4f);
    for (const std::size_t key : {5u, 6u}) problem.fill(problem.k, key, 6e4f);
    problem.k[6 * 32] = round_to(dtype, -6e4f);
    problem.k[5 * 32 + 1] = round_to(dtype, -6e4f);
    problem.expect_right_output_to_pass();
    for (std::size_t row = 0; row < problem.rows(); row += 7) plant_zeros(problem, row);
  }
}

// An fp32 sum of these products overflows in plain evaluation of all rows but one.
TEST(SharpScores, WhatOverflowsIsNoMeasure) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16}) {
    Problem problem(dtype, 40, 16, 1);
    for (std::size_t row = 0; row < problem.rows(); ++row) {
      if (row != 9) problem.fill(problem.q, row, 8e18f);
      problem.fill(problem.k, row, -8e18f);
    }
    problem.fill(problem.q, 9, 1e-19f);
    problem.expect_right_output_to_pass();
    ASSERT_TRUE(problem.oracle.plain[3].overflows);
    ASSERT_FALSE(problem.oracle.plain[9].overflows);
    for (const std::size_t row : {3u, 9u}) {
      plant_zeros(problem, row);
      plant_wrong_lse(problem, row);
    }
    Output nothing = problem.right;
    std::fill(nothing.o.begin(), nothing.o.end(), 0.0f);
    std::fill(nothing.lse.begin(), nothing.lse.end(), -kInfinite);
    problem.expect_fault(nothing, "an output of nothing");
  }
}

TEST(SharpScores, AnLseBeyondFp32CannotBeVerified) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16}) {
    Problem problem(dtype, 40, 32, 1);
    for (std::size_t row = 0; row < problem.rows(); ++row) {
      problem.fill(problem.q, row, 8e18f);
      problem.fill(problem.k, row, -8e18f);
    }
    problem.evaluate();
    Output nothing = problem.right;
    std::fill(nothing.o.begin(), nothing.o.end(), 0.0f);
    for (const Output& output : {problem.right, nothing}) {
      const auto fault = problem.fault_of(output);
      ASSERT_TRUE(fault);
      EXPECT_NE(fault->find("beyond fp32: no output of these inputs can be verified"), std::string::npos)
          << *fault;
    }
  }
}

// A chain of products that stores its scores is held to its own arithmetic. It is no measure of others.
TEST(SharpScores, StoredScoresAreAnotherFunction) {
  for (const Dtype dtype : {Dtype::bf16, Dtype::fp16}) {
    Problem problem(dtype, 512, 64, 20);
    problem.expect_right_output_to_pass();
    Output stored = problem.right;
    for (std::size_t row = 0; row < problem.rows(); ++row) {
      const ReferenceRow plain =
          plain_row(problem.work, {problem.q, problem.k, problem.v}, problem.oracle.rows[row]);
      std::transform(plain.stored_o.begin(), plain.stored_o.end(),
                     stored.o.begin() + static_cast<std::ptrdiff_t>(row * problem.width()),
                     [](double value) { return static_cast<float>(value); });
      stored.lse[row] = static_cast<float>(plain.stored_lse);
    }
    const auto fault = problem.fault_of(stored, Scores::stored);
    EXPECT_FALSE(fault) << *fault;
    problem.expect_fault(stored, "an output of stored scores");
    Output zeros = problem.right;
    std::fill(zeros.o.begin(), zeros.o.end(), 0.0f);
    EXPECT_TRUE(problem.fault_of(zeros, Scores::stored));
  }
}

}  // namespace
}  // namespace hilbench
