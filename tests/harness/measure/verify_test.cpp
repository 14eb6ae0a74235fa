#include "harness/measure/verify.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "harness/measure/drawn_rows.hpp"
#include "tests/harness/measure/right_output.hpp"
#include "tests/harness/measure/whole_tensor.hpp"

namespace hilbench {
namespace {

VerifyResult verify(const Case& work, const Oracle& oracle, const Output& output) {
  return verify_output(work, oracle, reader(output), 2);
}

class VerifyTest : public testing::Test {
 protected:
  const Case work_{.sequence_length = 40, .pattern = {{16, 4}}, .heads = 2, .kv_heads = 2, .head_dim = 8};
  const InputTensors inputs_{work_, {}, 3};
  const Oracle oracle_ = make_oracle(work_, inputs_, {}, drawn_rows(work_, 1, kSampledRows), 2);
  Output output_ = right_output(work_, oracle_);
};

TEST_F(VerifyTest, ComparesEveryRowOfASmallCaseAndAcceptsTheRightOutput) {
  EXPECT_EQ(oracle_.rows.size(), 80u);
  const VerifyResult result = verify(work_, oracle_, output_);
  EXPECT_FALSE(result.fault) << *result.fault;
  EXPECT_EQ(result.check.rows, 80);
  EXPECT_LT(result.check.worst, 1);
  EXPECT_GT(result.check.tolerance, 0);
}

TEST_F(VerifyTest, RejectsOneWrongValueAndNamesItsRow) {
  output_.o[(2 * 33 + 1) * 8 + 3] += 1e-4f;  // position 33, head 1
  const VerifyResult result = verify(work_, oracle_, output_);
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->find(
                "the error 0.0001 of O in the row at batch 0, position 33, head 1 exceeds the tolerance "),
            0u)
      << *result.fault;
  EXPECT_NE(result.fault->find("1 of 80 compared rows"), std::string::npos) << *result.fault;
  EXPECT_GT(result.check.worst, 1);
  EXPECT_NEAR(*result.check.worst * result.check.tolerance, 1e-4, 1e-6);
}

TEST_F(VerifyTest, RejectsAValueThatWasNeverWritten) {
  output_.o[17] = std::numeric_limits<float>::quiet_NaN();
  const VerifyResult result = verify(work_, oracle_, output_);
  ASSERT_TRUE(result.fault);
  EXPECT_NE(result.fault->find("never written"), std::string::npos);
}

// Rows that were taken apart, as in several poisoned rounds.
TEST_F(VerifyTest, PartsAddUpToTheWhole) {
  const auto judge = [&] {
    OutputErrors all;
    for (std::int64_t part = 0; part < 2; ++part) {
      std::vector<RowId> rows = oracle_.rows;
      std::erase_if(rows, [part](const RowId& row) { return row.position % 2 != part; });
      EXPECT_EQ(rows.size(), 40u);
      all.add(compare_rows(oracle_, take_rows(work_, reader(output_), {.rows = rows}, InputSet::second, 2)));
    }
    return judge_output(work_, all);
  };
  const VerifyResult right = judge(), whole = verify(work_, oracle_, output_);
  EXPECT_FALSE(right.fault) << *right.fault;
  EXPECT_EQ(right.check.rows, 80);
  EXPECT_EQ(right.check.tolerance, whole.check.tolerance);
  EXPECT_EQ(right.check.max_abs, whole.check.max_abs);
  EXPECT_EQ(right.check.lse_max_abs, whole.check.lse_max_abs);
  EXPECT_NEAR(right.check.rel_l2, whole.check.rel_l2, 1e-12);
  output_.lse[3] += 0.01f;  // a row of the second part
  EXPECT_TRUE(judge().fault);
  output_.o[3] += 1e-4f;
  EXPECT_TRUE(judge().fault);
  output_.o[17] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(judge().check.max_abs, std::numeric_limits<double>::infinity());
}

// The output of the negated inputs is that of the others with the other sign; the LSE is the same.
TEST_F(VerifyTest, NegatedInputsNegateTheOutput) {
  const auto judge = [&](const Output& output, InputSet inputs) {
    return judge_output(
        work_, compare_rows(oracle_, take_rows(work_, reader(output), {.rows = oracle_.rows}, inputs, 2)));
  };
  EXPECT_TRUE(judge(output_, InputSet::negated).fault);
  Output negated = output_;
  for (float& value : negated.o) value = -value;
  const VerifyResult right = judge(negated, InputSet::negated);
  EXPECT_FALSE(right.fault) << *right.fault;
  EXPECT_TRUE(judge(negated, InputSet::second).fault);
}

TEST(DrawnRows, AreThoseOfTheEntropyAndEquallyLikely) {
  const Case work{
      .sequence_length = 1 << 16, .pattern = {{1 << 16, 1}}, .heads = 4, .kv_heads = 4, .head_dim = 8};
  const OutputRows all = all_rows(work);
  const auto numbers = [&](std::uint64_t entropy) {
    std::vector<std::int64_t> drawn;
    for (const RowId& row : drawn_rows(work, entropy, kSampledRows)) drawn.push_back(all.number(row));
    return drawn;
  };
  EXPECT_EQ(numbers(1), numbers(1));
  EXPECT_NE(numbers(1), numbers(2));
  EXPECT_NE(fresh_entropy(), fresh_entropy());
  EXPECT_EQ(entropy_text(255), "00000000000000ff");
  std::int64_t first_half = 0, wrong = 0;
  for (std::uint64_t entropy = 0; entropy < 100; ++entropy) {
    const auto before = numbers(2 * entropy), after = numbers(2 * entropy + 1);
    EXPECT_TRUE(std::ranges::is_sorted(before));
    EXPECT_GE(before.size(), 254u);
    for (const std::int64_t row : before) first_half += row < all.count / 2 ? 1 : 0;
    const auto bad = [](std::int64_t row) { return row % 100 == 7; };  // 1 % of all rows
    wrong += std::ranges::any_of(before, bad) || std::ranges::any_of(after, bad) ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(first_half), 12800, 500);
  EXPECT_GE(wrong, 98) << "of 100 outputs with 1 % wrong rows; 99.4 are expected";
}

TEST_F(VerifyTest, RejectsAWrongLse) {
  output_.lse[0] += 0.01f;
  EXPECT_TRUE(verify(work_, oracle_, output_).fault);
}

TEST_F(VerifyTest, TakesOutputAloneWhereThereIsNoLse) {
  const VerifyResult right = verify(work_, oracle_, {output_.o, {}});
  EXPECT_FALSE(right.fault) << *right.fault;
  EXPECT_TRUE(std::isnan(right.check.lse_max_abs));
  output_.o[3] += 1e-4f;
  EXPECT_TRUE(verify(work_, oracle_, {output_.o, {}}).fault);
}

TEST(Verify, RejectsAnLseThatWasNeverWrittenWhereNoRowIsCompared) {
  const Case work{.sequence_length = 9000, .pattern = {{9000, 1}}, .heads = 1, .kv_heads = 1, .head_dim = 8};
  const Oracle oracle =
      make_oracle(work, InputTensors(work, {}, 3), {}, drawn_rows(work, 1, kSampledRows), 2);
  ASSERT_LT(oracle.rows.size(), 9000u);
  Output output = right_output(work, oracle);
  EXPECT_FALSE(verify(work, oracle, output).fault);
  std::size_t between = 0;  // a row that is not compared
  while (oracle.rows[between].position == static_cast<std::int64_t>(between)) ++between;
  output.lse[between] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(verify(work, oracle, output).fault);
}

TEST_F(VerifyTest, RejectsAFiniteLseOfARowThatNothingCovers) {
  // Position 2, head 0: offset 0, dilation 4.
  ASSERT_EQ(output_.lse[4], -std::numeric_limits<float>::infinity());
  output_.lse[4] = 0;
  EXPECT_TRUE(verify(work_, oracle_, output_).fault);
}

TEST_F(VerifyTest, TokensOrderIsAnotherFunctionBroughtBackToPositions) {
  std::vector<std::int32_t> slots(40);
  std::iota(slots.rbegin(), slots.rend(), 0);
  const Oracle reversed =
      make_oracle(work_, inputs_, {.slots = slots}, drawn_rows(work_, 1, kSampledRows), 1);
  EXPECT_TRUE(verify(work_, reversed, output_).fault);
  // A reversed order changes nothing for full attention.
  Case dense = work_;
  dense.pattern = {{40, 1}};
  const Oracle plain = make_oracle(dense, inputs_, {}, drawn_rows(dense, 1, kSampledRows), 1);
  const Output right = right_output(dense, plain);
  EXPECT_FALSE(verify(dense,
                      make_oracle(dense, inputs_, {.slots = slots}, drawn_rows(dense, 1, kSampledRows), 1),
                      right)
                   .fault);
}

TEST_F(VerifyTest, KeysThatMoveAloneChangeWhatAQuerySees) {
  std::vector<std::int32_t> slots(40);
  std::iota(slots.rbegin(), slots.rend(), 0);
  const std::vector<RowId> rows = drawn_rows(work_, 1, kSampledRows);
  const Oracle moved = make_oracle(work_, inputs_, {.slots = slots, .queries_stay = true}, rows, 1);
  EXPECT_TRUE(verify(work_, moved, output_).fault);
  EXPECT_TRUE(
      verify(work_, moved, right_output(work_, make_oracle(work_, inputs_, {.slots = slots}, rows, 1))).fault)
      << "queries that move too are another function";
  // No query of full attention can tell.
  Case dense = work_;
  dense.pattern = {{40, 1}};
  const std::vector<RowId> all = drawn_rows(dense, 1, kSampledRows);
  const Output right = right_output(dense, make_oracle(dense, inputs_, {}, all, 1));
  EXPECT_FALSE(
      verify(dense, make_oracle(dense, inputs_, {.slots = slots, .queries_stay = true}, all, 1), right)
          .fault);
}

// Equal keys have equal errors of scores: the LSE has that of one score. 1.5 sqrt(d) 2^-24 of a score's size
// is three times what fp32 makes of it. A key more or less is far beyond.
TEST(Verify, TellsTheErrorOfAScoreFromAMissingKey) {
  for (const double scale : {1.0, 4.0, 20.0}) {
    Case work{.sequence_length = 600, .pattern = {{600, 1}}, .heads = 1, .kv_heads = 1, .head_dim = 64};
    work.data = DataKind::equal_rows;
    work.score_scale = scale;
    const InputTensors inputs(work, {}, 3);
    const std::vector<float> q = whole(inputs, Tensor::q), k = whole(inputs, Tensor::k);
    const Oracle oracle = make_oracle(work, inputs, {}, drawn_rows(work, 1, kSampledRows), 2);
    ASSERT_EQ(oracle.rows.size(), 600u);
    const Output right = right_output(work, oracle);
    ASSERT_FALSE(verify(work, oracle, right).fault);
    for (const double sign : {1.0, -1.0}) {
      Output rounded = right;
      for (std::size_t row = 0; row < 600; ++row) {
        double square = 0;
        for (std::size_t d = 0; d < 64; ++d) square += std::pow(double{q[row * 64 + d]} * k[d], 2);
        rounded.lse[row] = static_cast<float>(oracle.expected[row].lse +
                                              sign * 1.5 * std::sqrt(64) * 0x1p-24 * std::sqrt(square / 64));
      }
      const VerifyResult result = verify(work, oracle, rounded);
      EXPECT_FALSE(result.fault) << scale << ": " << *result.fault;
      Output wrong = right;
      wrong.lse[5] += static_cast<float>(std::log1p(sign / 600));
      EXPECT_TRUE(verify(work, oracle, wrong).fault) << scale;
    }
  }
}

// Rows of the reference over whole tensors. The oracle never holds whole tensors.
TEST(Oracle, IsTheReferenceInEveryBit) {
  const Case base{.pattern = {{96, 1}, {200, 3}}, .batch = 2, .heads = 4, .kv_heads = 2, .head_dim = 8};
  for (const std::int64_t length : {70, 1000}) {
    for (const Mask mask : {Mask::full, Mask::causal}) {
      for (const Queries queries : {Queries::dilated, Queries::dense}) {
        Case work = base;
        work.sequence_length = length;
        work.mask = mask;
        work.queries = queries;
        work.dtype = Dtype::bf16;
        const InputTensors inputs(work, {}, 3);
        const std::vector<float> q = whole(inputs, Tensor::q), k = whole(inputs, Tensor::k),
                                 v = whole(inputs, Tensor::v);
        const Oracle oracle = make_oracle(work, inputs, {}, drawn_rows(work, 1, kSampledRows), 3);
        for (std::size_t i = 0; i < oracle.rows.size(); ++i) {
          const ReferenceRow row = reference_row(work, {q, k, v}, oracle.rows[i]);
          ASSERT_EQ(oracle.expected[i].o, row.o);
          ASSERT_EQ(oracle.expected[i].lse, row.lse);
        }
      }
    }
  }
}

TEST(Oracle, SamplesLargeCasesWithTheFirstAndLastRow) {
  const Case work{.sequence_length = 40000, .pattern = {{64, 1}}, .heads = 2, .kv_heads = 2, .head_dim = 8};
  const Oracle oracle =
      make_oracle(work, InputTensors(work, {}, 3), {}, drawn_rows(work, 1, kSampledRows), 2);
  EXPECT_GE(oracle.rows.size(), 250u);
  EXPECT_LE(oracle.rows.size(), 256u);
  EXPECT_EQ(oracle.rows.front().position, 0);
  EXPECT_EQ(oracle.rows.back().position, 39999);
}

}  // namespace
}  // namespace hilbench
