#include "harness/verify.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace hilbench {
namespace {

struct Output {
  std::vector<float> o, lse;
};

// The reference itself as fp32 output: right by construction.
Output right_output(const Case& work, const Oracle& oracle) {
  const auto rows = static_cast<std::size_t>(work.batch * work.sequence_length * work.heads);
  Output output{std::vector<float>(rows * static_cast<std::size_t>(work.head_dim)), std::vector<float>(rows)};
  for (std::size_t i = 0; i < oracle.rows.size(); ++i) {
    const RowId& row = oracle.rows[i];
    const auto at =
        static_cast<std::size_t>((row.batch * work.sequence_length + row.position) * work.heads + row.head);
    for (std::size_t d = 0; d < oracle.expected[i].o.size(); ++d)
      output.o[at * oracle.expected[i].o.size() + d] = static_cast<float>(oracle.expected[i].o[d]);
    output.lse[at] = static_cast<float>(oracle.expected[i].lse);
  }
  return output;
}

class VerifyTest : public testing::Test {
 protected:
  const Case work_{.sequence_length = 40, .pattern = {{16, 4}}, .heads = 2, .kv_heads = 2, .head_dim = 8};
  const HostTensors inputs_ = make_inputs(work_, {}, 3, 1);
  const Oracle oracle_ = make_oracle(work_, inputs_, {}, 1, 2);
  Output output_ = right_output(work_, oracle_);
};

TEST_F(VerifyTest, ComparesEveryRowOfASmallCaseAndAcceptsTheRightOutput) {
  EXPECT_EQ(oracle_.rows.size(), 80u);
  const VerifyResult result = verify_output(work_, oracle_, output_.o, output_.lse);
  EXPECT_FALSE(result.fault) << *result.fault;
  EXPECT_EQ(result.verification.rows, 80);
  EXPECT_LE(result.verification.max_abs, result.verification.tolerance);
}

TEST_F(VerifyTest, RejectsOneWrongValue) {
  output_.o[3] += static_cast<float>(10 * oracle_.tolerance);
  EXPECT_TRUE(verify_output(work_, oracle_, output_.o, output_.lse).fault);
}

TEST_F(VerifyTest, RejectsAValueThatWasNeverWritten) {
  output_.o[17] = std::numeric_limits<float>::quiet_NaN();
  const VerifyResult result = verify_output(work_, oracle_, output_.o, output_.lse);
  ASSERT_TRUE(result.fault);
  EXPECT_NE(result.fault->find("never written"), std::string::npos);
}

TEST_F(VerifyTest, RejectsAWrongLse) {
  output_.lse[0] += 0.01f;
  EXPECT_TRUE(verify_output(work_, oracle_, output_.o, output_.lse).fault);
}

TEST_F(VerifyTest, TakesOutputAloneWhereThereIsNoLse) {
  const VerifyResult right = verify_output(work_, oracle_, output_.o, {});
  EXPECT_FALSE(right.fault) << *right.fault;
  EXPECT_TRUE(std::isnan(right.verification.lse_max_abs));
  output_.o[3] += static_cast<float>(10 * oracle_.tolerance);
  EXPECT_TRUE(verify_output(work_, oracle_, output_.o, {}).fault);
}

TEST(Verify, RejectsAnLseThatWasNeverWrittenWhereNoRowIsCompared) {
  const Case work{.sequence_length = 9000, .pattern = {{9000, 1}}, .heads = 1, .kv_heads = 1, .head_dim = 8};
  const Oracle oracle = make_oracle(work, make_inputs(work, {}, 3, 2), {}, 1, 2);
  ASSERT_LT(oracle.rows.size(), 9000u);
  Output output = right_output(work, oracle);
  EXPECT_FALSE(verify_output(work, oracle, output.o, output.lse).fault);
  std::size_t between = 0;  // a row that is not compared
  while (oracle.rows[between].position == static_cast<std::int64_t>(between)) ++between;
  output.lse[between] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(verify_output(work, oracle, output.o, output.lse).fault);
}

TEST_F(VerifyTest, RejectsAFiniteLseOfARowThatNothingCovers) {
  // Position 2, head 0: offset 0, dilation 4.
  ASSERT_EQ(output_.lse[4], -std::numeric_limits<float>::infinity());
  output_.lse[4] = 0;
  EXPECT_TRUE(verify_output(work_, oracle_, output_.o, output_.lse).fault);
}

TEST_F(VerifyTest, TokensOrderIsAnotherFunctionBroughtBackToPositions) {
  std::vector<std::int32_t> slots(40);
  std::iota(slots.rbegin(), slots.rend(), 0);
  const Oracle reversed = make_oracle(work_, inputs_, slots, 1, 1);
  EXPECT_TRUE(verify_output(work_, reversed, output_.o, output_.lse).fault);
  // Reversing a full-attention case changes nothing.
  Case dense = work_;
  dense.pattern = {{40, 1}};
  const Oracle plain = make_oracle(dense, inputs_, {}, 1, 1);
  const Output right = right_output(dense, plain);
  EXPECT_FALSE(verify_output(dense, make_oracle(dense, inputs_, slots, 1, 1), right.o, right.lse).fault);
}

TEST(Oracle, SamplesLargeCasesWithTheFirstAndLastRow) {
  const Case work{.sequence_length = 40000, .pattern = {{64, 1}}, .heads = 2, .kv_heads = 2, .head_dim = 8};
  const Oracle oracle = make_oracle(work, make_inputs(work, {}, 3, 2), {}, 1, 2);
  EXPECT_GE(oracle.rows.size(), 250u);
  EXPECT_LE(oracle.rows.size(), 256u);
  EXPECT_EQ(oracle.rows.front().position, 0);
  EXPECT_EQ(oracle.rows.back().position, 39999);
}

}  // namespace
}  // namespace hilbench
