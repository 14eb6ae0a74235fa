#include "baselines/tolerance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/case/rounding.hpp"

namespace hilbench {
namespace {

constexpr std::int64_t kKeys = 24;
constexpr std::int64_t kHeadDim = 64;

using Values = std::vector<float>;

// One head over all keys. Scores are `score_scale` times those of N(0, 1).
struct Problem {
  Case work{
      .sequence_length = kKeys, .pattern = {{kKeys, 1}}, .heads = 1, .kv_heads = 1, .head_dim = kHeadDim};
  Values q, k, v;
  std::vector<ReferenceRow> rows;
  std::vector<RowScale> scales;

  Problem(Dtype dtype, double score_scale, std::uint64_t seed) {
    work.dtype = dtype;
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    const auto fill = [&](Values& values, double scale) {
      for (std::int64_t i = 0; i < kKeys * kHeadDim; ++i)
        values.push_back(round_to(dtype, static_cast<float>(scale * normal(random))));
    };
    fill(q, score_scale), fill(k, 1), fill(v, 1);
    for (std::int64_t i = 0; i < kKeys; ++i) {
      rows.push_back(reference_row(work, {q, k, v}, {.position = i}));
      scales.push_back(
          row_scale(rows.back(), plain_errors(plain_row(work, {q, k, v}, {.position = i}), rows.back())));
    }
  }

  // Row i with its keys counted as often as `times` says, and its scores multiplied.
  ReferenceRow row(std::int64_t i, const std::vector<int>& times, float factor = 1) const {
    Values query(q.begin() + i * kHeadDim, q.begin() + (i + 1) * kHeadDim), keys, values;
    for (float& value : query) value *= factor;
    for (std::int64_t j = 0; j < kKeys; ++j)
      for (int n = 0; n < times[static_cast<std::size_t>(j)]; ++n) {
        keys.insert(keys.end(), k.begin() + j * kHeadDim, k.begin() + (j + 1) * kHeadDim);
        values.insert(values.end(), v.begin() + j * kHeadDim, v.begin() + (j + 1) * kHeadDim);
      }
    return attend(work, Arithmetic::exact, query.data(), keys.data(), values.data(),
                  std::ssize(keys) / kHeadDim);
  }

  bool accepts(std::int64_t i, const ReferenceRow& seen) const {
    const RowTolerances tolerances(work, scales);
    const auto at = static_cast<std::size_t>(i);
    const PlainErrors off = plain_errors(seen, rows[at]);
    return off.o <= tolerances.o(scales[at]) && off.lse <= tolerances.lse(scales[at]);
  }
};

const std::vector<int> kOnce(kKeys, 1);

std::vector<int> counted(std::int64_t key, int times) {
  std::vector<int> counts = kOnce;
  counts[static_cast<std::size_t>(key)] = times;
  return counts;
}

TEST(Tolerance, SeesAMissingAndADoubledKey) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16, Dtype::fp16})
    for (const std::uint64_t seed : {1, 2, 3}) {
      const Problem problem(dtype, 0.1, seed);  // probabilities of about 1 in 24
      for (std::int64_t i = 0; i < kKeys; ++i) {
        ASSERT_TRUE(problem.accepts(i, problem.row(i, kOnce)));
        for (std::int64_t j = 0; j < kKeys; ++j) {
          EXPECT_FALSE(problem.accepts(i, problem.row(i, counted(j, 0)))) << to_string(dtype) << i << j;
          EXPECT_FALSE(problem.accepts(i, problem.row(i, counted(j, 2)))) << to_string(dtype) << i << j;
        }
      }
    }
}

TEST(Tolerance, SeesScoresThatAreAThousandthOffAndRowsThatAreSwapped) {
  for (const double scale : {1.0, 4.0, 20.0})
    for (const std::uint64_t seed : {1, 2, 3}) {
      const Problem problem(Dtype::fp32, scale, seed);
      for (std::int64_t i = 0; i < kKeys; ++i) {
        EXPECT_FALSE(problem.accepts(i, problem.row(i, kOnce, 1.001f))) << scale << ", row " << i;
        EXPECT_FALSE(problem.accepts(i, problem.rows[static_cast<std::size_t>((i + 1) % kKeys)]))
            << scale << ", row " << i;
      }
    }
}

// Scores of 0 whose products are large: fp32 is off by about 2^-24 sqrt(d)/2 of their size, however well
// plain evaluation happens to do. Ten times as much shows.
TEST(Tolerance, AllowsWhatFp32DoesToScoresThatCancel) {
  const Case work{
      .sequence_length = kKeys, .pattern = {{kKeys, 1}}, .heads = 1, .kv_heads = 1, .head_dim = kHeadDim};
  std::mt19937_64 random(5);
  std::normal_distribution<float> normal;
  Values q, k, v;
  for (std::int64_t i = 0; i < kHeadDim / 2; ++i) q.insert(q.end(), 2, 30 * normal(random));
  for (std::int64_t i = 0; i < kKeys * kHeadDim / 2; ++i) {
    k.push_back(30 * normal(random));
    k.push_back(-k.back());
    v.push_back(normal(random));
    v.push_back(normal(random));
  }
  const ReferenceRow exact = attend(work, Arithmetic::exact, q.data(), k.data(), v.data(), kKeys);
  ASSERT_NEAR(exact.lse, std::log(kKeys), 1e-9);
  const RowScale scale = row_scale(exact, {});
  const RowTolerances tolerances(work, {&scale, 1});
  for (const double times : {0.5, 5.0}) {
    std::vector<double> o(kHeadDim), p;
    double sum = 0;
    for (std::int64_t j = 0; j < kKeys; ++j) {
      double square = 0;
      for (std::int64_t d = 0; d < kHeadDim; ++d)
        square += std::pow(
            double{q[static_cast<std::size_t>(d)]} * k[static_cast<std::size_t>(j * kHeadDim + d)], 2);
      const double size = std::sqrt(square / kHeadDim);
      p.push_back(std::exp((random() % 2 == 0 ? 1 : -1) * times * std::sqrt(kHeadDim) * 0x1p-24 * size));
      sum += p.back();
    }
    double off = 0;
    for (std::size_t d = 0; d < kHeadDim; ++d) {
      for (std::size_t j = 0; j < kKeys; ++j) o[d] += p[j] / sum * v[j * kHeadDim + d];
      off = std::max(off, std::abs(o[d] - exact.o[d]));
    }
    EXPECT_EQ(off <= tolerances.o(scale), times < 1) << off << " of " << tolerances.o(scale);
    EXPECT_LE(std::abs(std::log(sum) - exact.lse), 2 * times * tolerances.lse(scale));
  }
}

}  // namespace
}  // namespace hilbench
