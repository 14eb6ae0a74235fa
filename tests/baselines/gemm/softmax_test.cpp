#include "baselines/gemm/softmax.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace hilbench {
namespace {

// Two blocks of one row: scores 0 and ln 3, then ln 4. exp sums to 1 + 3 + 4.
TEST(SoftmaxBlock, RunsOnAcrossBlocks) {
  const float ln3 = std::log(3.0f), ln4 = std::log(4.0f);
  float maximum = -std::numeric_limits<float>::infinity(), denominator = 0, rescale = 0;
  const SoftmaxRows state{&maximum, &denominator, &rescale};
  std::vector<float> scores = {0, ln3, 99};
  const std::vector<std::int64_t> two = {2};
  softmax_block(scores.data(), 3, two, state);
  EXPECT_EQ(maximum, ln3);
  EXPECT_NEAR(denominator, 4.0f / 3, 1e-6);
  EXPECT_NEAR(scores[0], 1.0f / 3, 1e-6);
  EXPECT_EQ(scores[2], 0);  // not visible
  scores = {ln4, 99, 99};
  const std::vector<std::int64_t> one = {1};
  softmax_block(scores.data(), 3, one, state);
  EXPECT_NEAR(rescale, 0.75f, 1e-6);
  EXPECT_NEAR(maximum + std::log(denominator), std::log(8.0f), 1e-6);
}

TEST(SoftmaxBlock, RowWithoutKeysIsLeftAlone) {
  float maximum = 2, denominator = 5, rescale = 0;
  std::vector<float> scores(40, 7.0f);
  const std::vector<std::int64_t> none = {0};
  softmax_block(scores.data(), 40, none, {&maximum, &denominator, &rescale});
  EXPECT_EQ(maximum, 2);
  EXPECT_EQ(denominator, 5);
  EXPECT_EQ(rescale, 1);
  for (const float score : scores) EXPECT_EQ(score, 0);
}

// Rows longer than a vector and not its multiple, with scores that would overflow exp.
TEST(SoftmaxBlock, EqualsTheDefinitionForLongRows) {
  constexpr std::int64_t kColumns = 77;
  std::vector<float> scores(2 * kColumns);
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = 300 + 10 * std::sin(static_cast<float>(i));
  const std::vector<float> before = scores;
  std::vector<float> maximum(2, -std::numeric_limits<float>::infinity()), denominator(2, 0), rescale(2);
  const std::vector<std::int64_t> visible = {kColumns, 53};
  softmax_block(scores.data(), kColumns, visible, {maximum.data(), denominator.data(), rescale.data()});
  for (std::size_t row = 0; row < 2; ++row) {
    double sum = 0;
    for (std::int64_t i = 0; i < visible[row]; ++i) {
      const std::size_t at = row * kColumns + static_cast<std::size_t>(i);
      const double expected = std::exp(static_cast<double>(before[at]) - maximum[row]);
      EXPECT_NEAR(scores[at], expected, 1e-6);
      sum += expected;
    }
    EXPECT_NEAR(denominator[row], sum, 1e-5 * sum);
  }
}

}  // namespace
}  // namespace hilbench
