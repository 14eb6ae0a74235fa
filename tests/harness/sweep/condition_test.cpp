#include "harness/sweep/condition.hpp"

#include <gtest/gtest.h>

#include "kernels/base/text/error.hpp"
#include "tests/harness/sweep/sweep_text.hpp"

namespace hilbench {
namespace {

const Case kWork{.sequence_length = 8192,
                 .pattern = {{2048, 1}, {4096, 2}},
                 .heads = 8,
                 .kv_heads = 4,
                 .head_dim = 128,
                 .dtype = Dtype::bf16,
                 .mask = Mask::causal};

bool holds(std::string_view text) {
  return Condition::parse(text, "a.yaml:9, skip_when").matches(kWork);
}

std::string condition_refusal(std::string_view text) {
  try {
    Condition::parse(text, "a.yaml:9, skip_when");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "(accepted)";
}

TEST(Condition, MatchesNothingByDefault) {
  EXPECT_FALSE(Condition().matches(kWork));
}

TEST(Condition, ComparesNumbers) {
  EXPECT_TRUE(holds("head_dim == 128"));
  EXPECT_FALSE(holds("head_dim != 128"));
  EXPECT_TRUE(holds("head_dim>=128"));
  EXPECT_TRUE(holds("head_dim<=128"));
  EXPECT_FALSE(holds("head_dim < 128"));
  EXPECT_FALSE(holds("head_dim > 128"));
  EXPECT_TRUE(holds("head_dim > 127.5"));
  EXPECT_TRUE(holds("sequence_length > -1"));
}

TEST(Condition, ComparesWhatTheInputsAreLike) {
  Case work = kWork;
  work.pages = PageSize::of_2m;
  work.score_scale = 2.5;
  work.data = DataKind::equal_rows;
  const auto holds_here = [&](std::string_view text) { return Condition::parse(text, "").matches(work); };
  EXPECT_TRUE(holds_here("score_scale == 2.5 and data == equal_rows"));
  EXPECT_TRUE(holds_here("score_scale > 2 and score_scale < heads"));
  EXPECT_FALSE(holds_here("score_scale <= 1 or data == normal"));
  EXPECT_TRUE(holds_here("pages == 2m and pages != 4k"));
  EXPECT_TRUE(holds("pages == default"));
  EXPECT_TRUE(holds("score_scale == 1 and data == normal"));
}

TEST(Condition, ComparesWordsAndBooleans) {
  EXPECT_TRUE(holds("dtype == bf16"));
  EXPECT_TRUE(holds("dtype != fp32"));
  EXPECT_TRUE(holds("causal == true"));
  EXPECT_FALSE(holds("causal == false"));
  EXPECT_TRUE(holds("device == auto"));
  EXPECT_TRUE(holds("head_offset != none"));
}

TEST(Condition, ComparesParametersWithEachOther) {
  EXPECT_TRUE(holds("kv_heads < heads"));
  EXPECT_FALSE(holds("segment_length > sequence_length"));
}

TEST(Condition, PatternParametersHoldIfAnyBranchDoes) {
  EXPECT_TRUE(holds("dilation == 1"));
  EXPECT_TRUE(holds("dilation == 2"));
  EXPECT_FALSE(holds("dilation == 3"));
  EXPECT_TRUE(holds("segment_length >= 4096"));
  EXPECT_TRUE(holds("branches == 2"));
}

TEST(Condition, AndBindsTighterThanOrAndNotTightest) {
  EXPECT_TRUE(holds("head_dim == 128 or heads == 1 and heads == 2"));
  EXPECT_FALSE(holds("(head_dim == 128 or heads == 1) and heads == 2"));
  EXPECT_FALSE(holds("not head_dim == 128 or heads == 1"));
  EXPECT_TRUE(holds("not (head_dim == 128 and heads == 1)"));
  EXPECT_TRUE(holds("not not head_dim == 128"));
  EXPECT_TRUE(holds("head_dim == 1 or heads == 1 or kv_heads == 4"));
}

TEST(Condition, UnknownParameterNamesTheNearest) {
  EXPECT_SAYS(condition_refusal("heads == 8 and head_dmi == 64"), "unknown parameter 'head_dmi'");
  EXPECT_SAYS(condition_refusal("heads == 8 and head_dmi == 64"), "did you mean 'head_dim'?");
  EXPECT_SAYS(condition_refusal("heads == 8 and head_dmi == 64"), "a.yaml:9, skip_when, column 16");
}

TEST(Condition, TypesMustAgree) {
  EXPECT_SAYS(condition_refusal("head_dim == fp32"), "expects a number");
  EXPECT_SAYS(condition_refusal("dtype == 32"), "one of fp32, bf16, fp16");
  EXPECT_SAYS(condition_refusal("dtype == fp31"), "did you mean 'fp32'?");
  EXPECT_SAYS(condition_refusal("dtype < fp32"), "expects == or !=");
  EXPECT_SAYS(condition_refusal("causal > false"), "expects == or !=");
  EXPECT_SAYS(condition_refusal("causal == 1"), "one of false, true");
  EXPECT_SAYS(condition_refusal("heads == causal"), "expects a number");
}

TEST(Condition, SyntaxErrorsNameWhatWasExpected) {
  EXPECT_SAYS(condition_refusal(""), "comparison missing");
  EXPECT_SAYS(condition_refusal("heads"), "unexpected end");
  EXPECT_SAYS(condition_refusal("heads =="), "unexpected end");
  EXPECT_SAYS(condition_refusal("heads = 8"), "expects ==");
  EXPECT_SAYS(condition_refusal("heads == 8 heads == 9"), "expects and, or, or the end");
  EXPECT_SAYS(condition_refusal("(heads == 8"), "')' missing");
  EXPECT_SAYS(condition_refusal("heads == 8)"), "unexpected ')'");
  EXPECT_SAYS(condition_refusal("heads == 8 and"), "comparison missing");
  EXPECT_SAYS(condition_refusal("heads == 8 &&"), "unexpected '&'");
  EXPECT_SAYS(condition_refusal("heads == 8x"), "unexpected '8x'");
}

TEST(Condition, DepthAndLengthAreLimited) {
  EXPECT_SAYS(condition_refusal(std::string(5000, '(')), "nested too deep");
  std::string nots;
  for (int i = 0; i < 2000; ++i) nots += "not ";
  EXPECT_SAYS(condition_refusal(nots + "heads == 8"), "nested too deep");
  EXPECT_SAYS(condition_refusal(std::string(20'000, ' ')), "too long");
  std::string chain = "heads == 1";
  for (int i = 0; i < 600; ++i) chain += " or heads == 1";
  EXPECT_FALSE(holds(chain));
}

}  // namespace
}  // namespace hilbench
