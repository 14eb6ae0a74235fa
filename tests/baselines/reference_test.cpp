#include "baselines/reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/case/rounding.hpp"

namespace hilbench {
namespace {

using Keys = std::vector<std::int64_t>;

Case tiny(std::int64_t length, std::vector<Branch> pattern) {
  return {.sequence_length = length, .pattern = std::move(pattern), .heads = 1, .kv_heads = 1, .head_dim = 1};
}

// Two tokens, head_dim 1 (scale 1). Query 0 is 1, keys are 0 and ln 3, values 10 and 20: scores 0 and ln 3,
// weights 1/4 and 3/4, O = 2.5 + 15 = 17.5, LSE = ln(1 + 3).
TEST(Reference, TwoTokensByHand) {
  const Case work = tiny(2, {{2, 1}});
  const std::vector<float> q = {1, 0}, k = {0, std::log(3.0f)}, v = {10, 20};
  const ReferenceRow first = reference_row(work, {q, k, v}, {0, 0, 0});
  EXPECT_NEAR(first.o[0], 17.5, 1e-6);
  EXPECT_NEAR(first.lse, std::log(4.0), 1e-6);
  // Query 1 is 0: equal weights.
  const ReferenceRow second = reference_row(work, {q, k, v}, {0, 0, 1});
  EXPECT_DOUBLE_EQ(second.o[0], 15);
  EXPECT_DOUBLE_EQ(second.lse, std::log(2.0));
}

// head_dim 4: scale 1/2. q.k = 2 ln 3 for key 1 and 0 for key 0, so the score is ln 3 again.
TEST(Reference, ScalesByTheRootOfHeadDim) {
  Case work = tiny(2, {{2, 1}});
  work.head_dim = 4;
  const float ln3 = std::log(3.0f);
  const std::vector<float> q = {1, 1, 0, 0, 0, 0, 0, 0};
  const std::vector<float> k = {0, 0, 0, 0, ln3, ln3, 5, 5};
  const std::vector<float> v = {10, 0, 0, 1, 20, 0, 0, 1};
  const ReferenceRow row = reference_row(work, {q, k, v}, {0, 0, 0});
  EXPECT_NEAR(row.o[0], 17.5, 1e-5);
  EXPECT_EQ(row.o[1], 0);
  EXPECT_NEAR(row.o[3], 1, 1e-12);
}

TEST(Reference, CausalSeesNothingLater) {
  Case work = tiny(2, {{2, 1}});
  work.mask = Mask::causal;
  const std::vector<float> q = {1, 0}, k = {0, 7}, v = {10, 20};
  const ReferenceRow first = reference_row(work, {q, k, v}, {0, 0, 0});
  EXPECT_EQ(first.o[0], 10);
  EXPECT_EQ(first.lse, 0);
  EXPECT_DOUBLE_EQ(reference_row(work, {q, k, v}, {0, 0, 1}).o[0], 15);
}

// Four tokens, all queries 0, so every score is 0. Branch (2, 1) gives token 0 the mean of 1 and 2 with
// denominator 2; branch (4, 2) the mean of 1 and 4 with denominator 2: O = (2 * 1.5 + 2 * 2.5) / 4 = 2.
// Token 3 has branch (2, 1) alone: mean of 4 and 8.
TEST(Reference, BranchesCombineBySoftmaxDenominators) {
  const Case work = tiny(4, {{2, 1}, {4, 2}});
  const std::vector<float> q = {0, 0, 0, 0}, k = {1, 2, 3, 4}, v = {1, 2, 4, 8};
  const ReferenceRow first = reference_row(work, {q, k, v}, {0, 0, 0});
  EXPECT_DOUBLE_EQ(first.o[0], 2);
  EXPECT_DOUBLE_EQ(first.lse, std::log(4.0));
  const ReferenceRow last = reference_row(work, {q, k, v}, {0, 0, 3});
  EXPECT_DOUBLE_EQ(last.o[0], 6);
  EXPECT_DOUBLE_EQ(last.lse, std::log(2.0));
}

// Unequal denominators: q = 1, keys ln 1, ln 3, ln 5, ln 7. Token 0: branch (2, 1) has denominator 1 + 3 and
// numerator 1 * 1 + 3 * 2 = 7; branch (4, 2) 1 + 5 and 1 * 1 + 5 * 4 = 21. O = (7 + 21) / (4 + 6).
TEST(Reference, DenominatorsWeighBranches) {
  const Case work = tiny(4, {{2, 1}, {4, 2}});
  const std::vector<float> q = {1, 1, 1, 1}, v = {1, 2, 4, 8};
  const std::vector<float> k = {0, std::log(3.0f), std::log(5.0f), std::log(7.0f)};
  const ReferenceRow row = reference_row(work, {q, k, v}, {0, 0, 0});
  EXPECT_NEAR(row.o[0], 2.8, 1e-6);
  EXPECT_NEAR(row.lse, std::log(10.0), 1e-6);
}

TEST(Reference, UncoveredRowIsZeroWithLseMinusInfinity) {
  const Case work = tiny(4, {{4, 2}});
  const std::vector<float> ones(4, 1.0f);
  for (const ReferenceRow& row :
       {reference_row(work, {ones, ones, ones}, {0, 0, 1}), plain_row(work, {ones, ones, ones}, {0, 0, 1})}) {
    EXPECT_EQ(row.o[0], 0);
    EXPECT_EQ(row.lse, -std::numeric_limits<double>::infinity());
  }
}

// Scores of 1000 overflow exp but not the softmax.
TEST(Reference, LargeScoresStayFinite) {
  const Case work = tiny(2, {{2, 1}});
  const std::vector<float> q = {1, 1}, k = {1000, 1000}, v = {1, 3};
  const ReferenceRow row = reference_row(work, {q, k, v}, {0, 0, 0});
  EXPECT_DOUBLE_EQ(row.o[0], 2);
  EXPECT_DOUBLE_EQ(row.lse, 1000 + std::log(2.0));
}

// [batch 2, sequence 1, heads 4, head_dim 1] over 2 K/V heads: with one key, O is that key's value.
TEST(Reference, GroupsReadTheirKvHeadAndBatchItsOwn) {
  Case work = tiny(1, {{1, 1}});
  work.batch = 2;
  work.heads = 4;
  work.kv_heads = 2;
  const std::vector<float> q(8, 1.0f), k(4, 1.0f), v = {1, 2, 3, 4};
  const std::vector<double> expected = {1, 1, 2, 2, 3, 3, 4, 4};
  for (std::int64_t i = 0; i < 8; ++i)
    EXPECT_EQ(reference_row(work, {q, k, v}, {i / 4, i % 4, 0}).o[0], expected[static_cast<std::size_t>(i)]);
}

TEST(VisibleKeys, DilatedSegmentsWithAShortLastOne) {
  const Case work = tiny(7, {{4, 2}});
  EXPECT_EQ(visible_keys(work, 0, 0, 0), (Keys{0, 2}));
  EXPECT_EQ(visible_keys(work, 0, 0, 1), Keys{});
  EXPECT_EQ(visible_keys(work, 0, 0, 6), (Keys{4, 6}));
}

TEST(VisibleKeys, OffsetOfTheKvHeadCausalAndDense) {
  Case work = tiny(8, {{8, 3}});
  work.heads = 4;
  work.kv_heads = 2;  // heads 2 and 3 read K/V head 1, offset 1: keys 1, 4, 7
  EXPECT_EQ(visible_keys(work, 2, 0, 4), (Keys{1, 4, 7}));
  EXPECT_EQ(visible_keys(work, 2, 0, 5), Keys{});
  work.mask = Mask::causal;
  EXPECT_EQ(visible_keys(work, 3, 0, 4), (Keys{1, 4}));
  work.queries = Queries::dense;
  EXPECT_EQ(visible_keys(work, 3, 0, 6), (Keys{1, 4}));
  EXPECT_EQ(visible_keys(work, 3, 0, 0), Keys{});
}

TEST(VisibleKeys, PartitionServesOneBranch) {
  Case work = tiny(4, {{2, 1}, {4, 1}});
  work.heads = work.kv_heads = 2;
  work.branch_heads = BranchHeads::partition;
  EXPECT_EQ(visible_keys(work, 0, 0, 0), (Keys{0, 1}));
  EXPECT_EQ(visible_keys(work, 0, 1, 0), Keys{});
  EXPECT_EQ(visible_keys(work, 1, 0, 0), Keys{});
  EXPECT_EQ(visible_keys(work, 1, 1, 0), (Keys{0, 1, 2, 3}));
}

// Three equal keys: each probability 1/3 is 0.33398 in bf16 (8 bits), so O of three ones is their sum,
// rounded.
TEST(PlainRow, RoundsProbabilitiesAndOutputToTheDtype) {
  Case work = tiny(3, {{3, 1}});
  const std::vector<float> q(3, 0.0f), k(3, 0.0f), v = {1, 1, 1};
  work.dtype = Dtype::bf16;
  EXPECT_EQ(plain_row(work, {q, k, v}, {0, 0, 0}).o[0], round_to(Dtype::bf16, 3 * 0.333984375f));
  EXPECT_NEAR(reference_row(work, {q, k, v}, {0, 0, 0}).o[0], 1, 1e-15);
  // Where scores are stored, they round too: 1.00390625 (1 + 2^-8) becomes 1, and LSE 1 + ln 3.
  const std::vector<float> ones(3, 1.0f), near_one(3, 1.00390625f);
  const ReferenceRow row = plain_row(work, {ones, near_one, v}, {0, 0, 0});
  EXPECT_NEAR(row.lse, 1.00390625 + std::log(3.0), 1e-6);
  EXPECT_NEAR(row.stored_lse, 1 + std::log(3.0), 1e-6);
}

// Scores 256 and 257 are both 256 in bf16: half of each value, instead of shares of 0.27 and 0.73.
TEST(PlainRow, StoredScoresShareTheValuesOtherwise) {
  Case work = tiny(2, {{2, 1}});
  work.dtype = Dtype::bf16;
  const ReferenceRow row = plain_row(
      work, {std::vector<float>(2, 1), std::vector<float>{256, 257}, std::vector<float>{0, 1}}, {0, 0, 0});
  EXPECT_NEAR(row.o[0], 1 / (1 + std::exp(-1.0)), 0x1p-8);
  EXPECT_EQ(row.stored_o[0], 0.5);
}

// Values 1 and 3, each with probability 1/2, in either branch: O is 2, and each value is 1 away.
TEST(Reference, MeasuresHowFarValuesAreFromO) {
  const std::vector<float> q(2, 0), k(2, 0), v = {1, 3};
  for (const Case& work : {tiny(2, {{2, 1}}), tiny(2, {{2, 1}, {2, 1}})}) {
    const ReferenceRow row = reference_row(work, {q, k, v}, {0, 0, 0});
    EXPECT_NEAR(row.o[0], 2, 1e-15);
    EXPECT_NEAR(row.spread, 1, 1e-15);
    EXPECT_NEAR(row.square_spread, 1, 1e-15);
    EXPECT_EQ(row.kept, 2.0 * static_cast<double>(work.pattern.size()));
    EXPECT_EQ(row.lost, 0);
  }
}

// One key has all the mass: nothing that happens to scores moves O, however large they are.
TEST(Reference, ARowOfOneKeyDoesNotSpread) {
  const std::vector<float> q(2, 1e6f), k = {1, 0}, v = {1, 3};
  const ReferenceRow row = reference_row(tiny(2, {{2, 1}}), {q, k, v}, {0, 0, 0});
  EXPECT_EQ(row.spread, 0);
  EXPECT_EQ(row.score_o, 0);
  EXPECT_EQ(row.kept, 1);
}

}  // namespace
}  // namespace hilbench
