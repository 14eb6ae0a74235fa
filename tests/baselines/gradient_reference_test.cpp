#include "baselines/gradient_reference.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/case/pattern.hpp"
#include "tests/kernels/random_case.hpp"

namespace hilbench {
namespace {

// All tensors of a case, and O and LSE of the exact forward pass rounded to fp32.
struct Tensors {
  Case work;
  std::vector<float> q, k, v, d_o, o, lse;

  explicit Tensors(const Case& a_case, std::uint64_t seed) : work(a_case) {
    Random random(seed);
    const std::int64_t positions = work.batch * work.sequence_length;
    std::normal_distribution<float> normal;
    const auto fill = [&](std::vector<float>& tensor, std::int64_t heads) {
      for (std::int64_t i = 0; i < positions * heads * work.head_dim; ++i) tensor.push_back(normal(random));
    };
    fill(q, work.heads), fill(k, work.kv_heads), fill(v, work.kv_heads), fill(d_o, work.heads);
    for (const RowId& row : every_row(work)) {
      const ReferenceRow exact = reference_row(work, {q, k, v}, row);
      for (const double value : exact.o) o.push_back(static_cast<float>(value));
      lse.push_back(static_cast<float>(exact.lse));
    }
  }
  GradientInputs inputs() const { return {{q, k, v}, d_o, o, lse}; }

  // sum of dO O, whose derivatives the gradients are.
  double loss() const {
    double loss = 0;
    std::size_t at = 0;
    for (const RowId& row : every_row(work))
      for (const double value : reference_row(work, {q, k, v}, row).o) loss += value * d_o[at++];
    return loss;
  }
  double derivative(float& element) {
    const float value = element, step = 1e-2f;
    const auto loss_at = [&](float moved) {
      element = moved;
      return loss();
    };
    const float up = value + step, down = value - step, up_2 = value + 2 * step, down_2 = value - 2 * step;
    const double one = (loss_at(up) - loss_at(down)) / (static_cast<double>(up) - down);
    const double two = (loss_at(up_2) - loss_at(down_2)) / (static_cast<double>(up_2) - down_2);
    element = value;
    return (4 * one - two) / 3;  // Richardson: the error is of the fourth order
  }
};

Case small_case(std::uint64_t seed) {
  Random random(seed);
  Case work = random_case(random, 12);
  work.dtype = Dtype::fp32;
  work.head_dim = between(random, 1, 6);
  work.batch = 1;
  work.dropout = one_of(random, {0.0, 0.125, 0.6});
  work.dropout_seed = static_cast<std::int64_t>(seed);
  return work;
}

TEST(GradientReference, EqualsFiniteDifferences) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Tensors tensors(small_case(seed), seed);
    const Case& work = tensors.work;
    Random random(seed);
    for (int sample = 0; sample < 3; ++sample) {
      const RowId row{0, between(random, 0, work.heads - 1), between(random, 0, work.sequence_length - 1)};
      const auto at = static_cast<std::size_t>((row.position * work.heads + row.head) * work.head_dim);
      const GradientRow d_q = reference_query_gradient(work, Arithmetic::exact, tensors.inputs(), row);
      EXPECT_NEAR(d_q.values[0], tensors.derivative(tensors.q[at]), 1e-5) << case_id(work);
      const RowId key{0, kv_head_of(work, row.head), row.position};
      const auto to = static_cast<std::size_t>((key.position * work.kv_heads + key.head) * work.head_dim);
      const KeyGradient gradient = reference_key_gradient(work, Arithmetic::exact, tensors.inputs(), key);
      EXPECT_NEAR(gradient.k.values[0], tensors.derivative(tensors.k[to]), 1e-5) << case_id(work);
      EXPECT_NEAR(gradient.v.values[0], tensors.derivative(tensors.v[to]), 1e-5) << case_id(work);
    }
  }
}

// What holds for every softmax: moving all scores of a row changes nothing, so the dS of a row add up to 0.
TEST(GradientReference, OfOneKeyNothingIsLeftForQueriesAndKeys) {
  Case work{.sequence_length = 1, .pattern = {{1, 1}}, .heads = 1, .kv_heads = 1, .head_dim = 8};
  const Tensors tensors(work, 1);
  const GradientRow d_q = reference_query_gradient(work, Arithmetic::exact, tensors.inputs(), {0, 0, 0});
  for (const double value : d_q.values) EXPECT_NEAR(value, 0, 1e-12);
  const KeyGradient gradient = reference_key_gradient(work, Arithmetic::exact, tensors.inputs(), {0, 0, 0});
  for (std::size_t d = 0; d < 8; ++d) EXPECT_NEAR(gradient.v.values[d], tensors.d_o[d], 1e-6);
}

TEST(GradientReference, WhatNobodySeesHasNoGradient) {
  Case work{.sequence_length = 8, .pattern = {{8, 4}}, .heads = 1, .kv_heads = 1, .head_dim = 4};
  const Tensors tensors(work, 1);
  const KeyGradient gradient = reference_key_gradient(work, Arithmetic::exact, tensors.inputs(), {0, 0, 1});
  EXPECT_EQ(gradient.v.pairs, 0);
  EXPECT_EQ(gradient.v.values, std::vector<double>(4, 0.0));
  EXPECT_EQ(reference_query_gradient(work, Arithmetic::exact, tensors.inputs(), {0, 0, 1}).values,
            std::vector<double>(4, 0.0));
}

TEST(SeeingQueries, AreTheInverseOfVisibleKeys) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const Case work = random_case(random, 40);
    for (std::int64_t head = 0; head < work.heads; ++head)
      for (std::int64_t b = 0; b < std::ssize(work.pattern); ++b) {
        std::vector<std::vector<std::int64_t>> expected(static_cast<std::size_t>(work.sequence_length));
        for (std::int64_t query = 0; query < work.sequence_length; ++query)
          for (const std::int64_t key : visible_keys(work, head, b, query))
            expected[static_cast<std::size_t>(key)].push_back(query);
        for (std::int64_t key = 0; key < work.sequence_length; ++key)
          EXPECT_EQ(seeing_queries(work, head, b, key), expected[static_cast<std::size_t>(key)])
              << case_id(work);
      }
  }
}

}  // namespace
}  // namespace hilbench
