#include "harness/measure/verify.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

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
  const Oracle oracle_ = make_oracle(work_, inputs_, {}, 1, 2);
  Output output_ = right_output(work_, oracle_);
};

TEST_F(VerifyTest, ComparesEveryRowOfASmallCaseAndAcceptsTheRightOutput) {
  EXPECT_EQ(oracle_.rows.size(), 80u);
  const VerifyResult result = verify(work_, oracle_, output_);
  EXPECT_FALSE(result.fault) << *result.fault;
  EXPECT_EQ(result.verification.rows, 80);
  EXPECT_LT(result.verification.worst, 1);
  EXPECT_GT(result.verification.tolerance, 0);
}

TEST_F(VerifyTest, RejectsOneWrongValueAndNamesItsRow) {
  output_.o[(2 * 33 + 1) * 8 + 3] += 1e-4f;  // position 33, head 1
  const VerifyResult result = verify(work_, oracle_, output_);
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->find(
                "the error 0.0001 of the row at batch 0, position 33, head 1 exceeds the tolerance "),
            0u)
      << *result.fault;
  EXPECT_NE(result.fault->find("1 of 80 compared rows"), std::string::npos) << *result.fault;
  EXPECT_GT(result.verification.worst, 1);
  EXPECT_NEAR(*result.verification.worst * result.verification.tolerance, 1e-4, 1e-6);
}

TEST_F(VerifyTest, RejectsAValueThatWasNeverWritten) {
  output_.o[17] = std::numeric_limits<float>::quiet_NaN();
  const VerifyResult result = verify(work_, oracle_, output_);
  ASSERT_TRUE(result.fault);
  EXPECT_NE(result.fault->find("never written"), std::string::npos);
}

// Two ranks that own every other position each, and report as processes do.
TEST_F(VerifyTest, PartsAddUpToTheWhole) {
  const auto judge = [&] {
    OutputErrors all;
    for (std::int64_t rank = 0; rank < 2; ++rank) {
      const auto owned = [rank](std::int64_t position) { return position % 2 == rank; };
      const Oracle oracle = make_oracle(work_, inputs_, {}, 1, 2, owned);
      EXPECT_EQ(oracle.rows.size(), 40u);
      Output own;
      for (std::int64_t position = rank; position < 40; position += 2) {
        own.o.insert(own.o.end(), output_.o.begin() + position * 16, output_.o.begin() + (position + 1) * 16);
        own.lse.insert(own.lse.end(), output_.lse.begin() + position * 2,
                       output_.lse.begin() + (position + 1) * 2);
      }
      const OutputRows rows{.count = 40,
                            .number = [](const RowId& id) { return id.position / 2 * 2 + id.head; },
                            .id = nullptr};
      const OutputErrors part = compare_output(oracle, reader(own), rows, 8, 2);
      all.add(output_errors_from_json(nlohmann::json::from_cbor(nlohmann::json::to_cbor(to_json(part)))));
    }
    return judge_output(work_, all);
  };
  const VerifyResult right = judge(), whole = verify(work_, oracle_, output_);
  EXPECT_FALSE(right.fault) << *right.fault;
  EXPECT_EQ(right.verification.rows, 80);
  EXPECT_EQ(right.verification.tolerance, whole.verification.tolerance);
  EXPECT_EQ(right.verification.max_abs, whole.verification.max_abs);
  EXPECT_EQ(right.verification.lse_max_abs, whole.verification.lse_max_abs);
  EXPECT_NEAR(right.verification.rel_l2, whole.verification.rel_l2, 1e-12);
  output_.lse[3] += 0.01f;  // a row of rank 1
  EXPECT_TRUE(judge().fault);
  output_.o[3] += 1e-4f;
  EXPECT_TRUE(judge().fault);
  output_.o[17] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(judge().verification.max_abs, std::numeric_limits<double>::infinity());
}

TEST_F(VerifyTest, RejectsAWrongLse) {
  output_.lse[0] += 0.01f;
  EXPECT_TRUE(verify(work_, oracle_, output_).fault);
}

TEST_F(VerifyTest, TakesOutputAloneWhereThereIsNoLse) {
  const VerifyResult right = verify(work_, oracle_, {output_.o, {}});
  EXPECT_FALSE(right.fault) << *right.fault;
  EXPECT_TRUE(std::isnan(right.verification.lse_max_abs));
  output_.o[3] += 1e-4f;
  EXPECT_TRUE(verify(work_, oracle_, {output_.o, {}}).fault);
}

TEST(Verify, RejectsAnLseThatWasNeverWrittenWhereNoRowIsCompared) {
  const Case work{.sequence_length = 9000, .pattern = {{9000, 1}}, .heads = 1, .kv_heads = 1, .head_dim = 8};
  const Oracle oracle = make_oracle(work, InputTensors(work, {}, 3), {}, 1, 2);
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
  const Oracle reversed = make_oracle(work_, inputs_, slots, 1, 1);
  EXPECT_TRUE(verify(work_, reversed, output_).fault);
  // A reversed order changes nothing for full attention.
  Case dense = work_;
  dense.pattern = {{40, 1}};
  const Oracle plain = make_oracle(dense, inputs_, {}, 1, 1);
  const Output right = right_output(dense, plain);
  EXPECT_FALSE(verify(dense, make_oracle(dense, inputs_, slots, 1, 1), right).fault);
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
    const Oracle oracle = make_oracle(work, inputs, {}, 1, 2);
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
        const Oracle oracle = make_oracle(work, inputs, {}, 1, 3);
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
  const Oracle oracle = make_oracle(work, InputTensors(work, {}, 3), {}, 1, 2);
  EXPECT_GE(oracle.rows.size(), 250u);
  EXPECT_LE(oracle.rows.size(), 256u);
  EXPECT_EQ(oracle.rows.front().position, 0);
  EXPECT_EQ(oracle.rows.back().position, 39999);
}

}  // namespace
}  // namespace hilbench
