#include "reports/claims/answers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "reports/claims/claims_file.hpp"
#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

const ClaimAnswer& answer_to(const std::vector<ClaimAnswer>& answers, std::string_view id,
                             Quantity quantity) {
  for (const ClaimAnswer& answer : answers)
    if (answer.claim->claim_id == id && answer.claim->quantity == quantity) return answer;
  throw std::out_of_range(std::string(id));
}

TEST(AnswerClaims, SayThatAnotherProcessUsedTheDevice) {
  ReportInput input = sample::input();
  input.records[1].environment["device_state"] = {{"foreign_processes", 1}};
  const View view = view_of(input);
  const std::vector<ClaimRow> claims = load_claims({});
  bool said = false;
  for (const ClaimAnswer& answer : answer_claims(claims, view)) {
    if (answer.where != &view.cases[0] || answer.claim->quantity != Quantity::speedup) continue;
    EXPECT_EQ(answer.verdict, ClaimVerdict::not_testable);
    EXPECT_EQ(answer.why, "another process used the GPU during the measurement");
    said = true;
  }
  EXPECT_TRUE(said);
}

TEST(AnswerClaims, JudgesWhatTheStoreHoldsAndSaysWhyNotElse) {
  ReportInput input = sample::input();
  const View view = view_of(input);
  const std::vector<ClaimRow> claims = load_claims({});
  const std::vector<ClaimAnswer> answers = answer_claims(claims, view);
  EXPECT_EQ(answers.size(), claims.size());
  for (const ClaimAnswer& answer : answers) {
    EXPECT_EQ(answer.verdict == ClaimVerdict::not_testable, !answer.measured) << answer.claim->claim_id;
    EXPECT_TRUE(answer.measured || !answer.why.empty()) << answer.claim->claim_id;
  }
  const ClaimAnswer& core = answer_to(answers, "hybrid-core", Quantity::speedup);
  EXPECT_EQ(core.where->case_id, "n8192-w2048-r1-h8-d64-fp32-p1-cpu");
  EXPECT_EQ(core.verdict, ClaimVerdict::smaller_than_claimed);
  ASSERT_TRUE(core.with_permutation && core.tokens);
  EXPECT_LT(core.with_permutation->ratio, core.measured->ratio);
  EXPECT_LT(core.tokens->ratio, 1);
}

TEST(AnswerClaims, JudgesLinesAndMemoryByExactCounts) {
  ReportInput input;
  const Case work = sample::work(8192, {{4096, 2}});
  sample::add_comparison(input.records, work, 1);
  const View view = view_of(input);
  const std::vector<ClaimRow> claims = load_claims({});
  const std::vector<ClaimAnswer> answers = answer_claims(claims, view);
  const ClaimAnswer& lines = answer_to(answers, "guide-speedup", Quantity::cache_lines);
  EXPECT_EQ(lines.verdict, ClaimVerdict::no_difference) << "as many lines in either order";
  EXPECT_EQ(lines.measured->ratio, 1);
  input.records[1].counters["layout_lines_64_per_tile"].value = 4096;
  EXPECT_EQ(answer_to(answer_claims(claims, view_of(input)), "guide-speedup", Quantity::cache_lines).verdict,
            ClaimVerdict::reproduced);
}

TEST(AnswerClaims, SayWhatOneProcessLeavesOpen) {
  ReportInput input;
  sample::add_comparison(input.records, sample::work(8192, {{4096, 2}}), 1);
  Record& hilbert = input.records[1];
  hilbert.time->samples_ns = input.records[0].time->samples_ns;
  for (double& ns : hilbert.time->samples_ns) ns *= 1.004;
  sample::compare_with(hilbert, input.records[0]);
  const std::vector<ClaimRow> claims = load_claims({});
  const auto why = [&] {
    const View view = view_of(input);
    const std::vector<ClaimAnswer> answers = answer_claims(claims, view);
    EXPECT_EQ(answer_to(answers, "guide-speedup", Quantity::speedup).verdict, ClaimVerdict::contradicted);
    return answer_to(answers, "guide-speedup", Quantity::speedup).why;
  };
  EXPECT_NE(why().find(kUnsettled), std::string::npos) << why();
  for (Record& record : input.records) record.time->process_rounds = {6, 6};
  EXPECT_EQ(why().find(kUnsettled), std::string::npos) << "two processes tell the sign";
}

TEST(AnswerClaims, WithholdsWhatAnotherProcessDisturbed) {
  ReportInput input;
  sample::add_comparison(input.records, sample::work(8192, {{4096, 2}}), 1);
  for (Record& record : input.records) record.environment["device_state"] = {{"foreign_processes", 2}};
  const std::vector<ClaimRow> claims = load_claims({});
  const View view = view_of(input);
  const std::vector<ClaimAnswer> answers = answer_claims(claims, view);
  for (const Quantity quantity : {Quantity::speedup, Quantity::cache_lines}) {
    const ClaimAnswer& answer = answer_to(answers, "guide-speedup", quantity);
    EXPECT_EQ(answer.verdict, ClaimVerdict::not_testable);
    EXPECT_NE(answer.why.find("another process used the GPU"), std::string::npos) << answer.why;
  }
}

TEST(AnswerClaims, TellTheDtypeWhereItIsNotTheClaims) {
  ReportInput input;
  Case work = sample::work(8192, {{4096, 2}});
  work.dtype = Dtype::bf16;
  sample::add_comparison(input.records, work, 1);
  const std::vector<ClaimRow> claims = load_claims({});
  const View view = view_of(input);
  const std::vector<ClaimAnswer> answers = answer_claims(claims, view);
  EXPECT_NE(
      answer_to(answers, "guide-speedup", Quantity::speedup).why.find("measured in bf16, we assumed fp32"),
      std::string::npos);
}

TEST(AnswerClaims, PoolIsJudgedWhereBothFormsStand) {
  ReportInput input;
  sample::add_comparison(input.records, sample::work(8192, {{2048, 1}}), 1);
  Record fresh = input.records[1];
  fresh.variant.buffers = Buffers::fresh;
  fresh.variant_id = variant_id(fresh.variant);
  for (double& ns : fresh.time->samples_ns) ns *= 1.1;
  sample::compare_with(fresh, input.records[0]);
  input.records.push_back(fresh);
  const std::vector<ClaimRow> claims = load_claims({});
  const View view = view_of(input);
  const std::vector<ClaimAnswer> answers = answer_claims(claims, view);
  const ClaimAnswer& pool = answer_to(answers, "hybrid-options", Quantity::buffers);
  ASSERT_TRUE(pool.measured);
  EXPECT_NEAR(pool.measured->ratio, 1.1, 1e-9);
  EXPECT_EQ(pool.verdict, ClaimVerdict::contradicted) << "claimed 0.98: the pool costs";
}

TEST(AnswerClaims, BreakEvenNeedsLengthsOnBothSides) {
  ReportInput input;
  sample::add_comparison(input.records, sample::work(8192, {{2048, 1}}), 1);
  const std::vector<ClaimRow> claims = load_claims({});
  {
    const View view = view_of(input);
    const std::vector<ClaimAnswer> answers = answer_claims(claims, view);
    EXPECT_EQ(answer_to(answers, "scaling-threshold", Quantity::break_even).verdict,
              ClaimVerdict::not_testable);
  }
  sample::add_comparison(input.records, sample::work(32768, {{2048, 1}}), 2);
  const View view = view_of(input);
  const std::vector<ClaimAnswer> answers = answer_claims(claims, view);
  EXPECT_EQ(answer_to(answers, "scaling-threshold", Quantity::break_even).verdict, ClaimVerdict::contradicted)
      << "hilbert is faster below the threshold already";
}

}  // namespace
}  // namespace hilbench
