#include "reports/claims/answers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "reports/claims/claims_file.hpp"
#include "reports/view/judge.hpp"
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
  (*input.records[1].environment)["device_state"] = {{"foreign_processes", 1}};
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
  ASSERT_TRUE(core.with_permutation && core.beside);
  EXPECT_LT(core.with_permutation->ratio, core.measured->ratio);
  EXPECT_LT(core.beside->ratio, 1);
}

TEST(AnswerClaims, JudgesLinesAndMemoryByExactCounts) {
  ReportInput input;
  const Case work = sample::work(8192, {{4096, 2}});
  sample::add_comparison(input.records, work, 1);
  const View view = view_of(input);
  const std::vector<ClaimRow> claims = load_claims({});
  const std::vector<ClaimAnswer> answers = answer_claims(claims, view);
  const ClaimAnswer& lines = answer_to(answers, "guide-speedup", Quantity::cache_lines);
  EXPECT_EQ(lines.verdict, ClaimVerdict::no_gain) << "as many lines in either order";
  EXPECT_EQ(lines.measured->ratio, 1);
  input.records[1].counters["layout_lines_64_per_tile"].value = 4096;
  EXPECT_EQ(answer_to(answer_claims(claims, view_of(input)), "guide-speedup", Quantity::cache_lines).verdict,
            ClaimVerdict::reproduced);
}

// Linear, Hilbert and random order in five processes, Hilbert order taking `factor` times as long.
ReportInput measured_by_five(double factor, Dtype dtype = Dtype::fp32) {
  ReportInput input;
  Case work = sample::work(8192, {{4096, 2}});
  work.dtype = dtype;
  sample::add_comparison(input.records, work, 1);
  Timing& hilbert = *input.records[1].time;
  hilbert.samples_ns = input.records[0].time->samples_ns;
  for (double& ns : hilbert.samples_ns) ns *= factor;
  for (Record& record : input.records) {
    auto& samples = record.time->samples_ns;
    samples.resize(10);
    record.time->process_rounds = {2, 2, 2, 2, 2};
  }
  judge(input.records);
  return input;
}

ClaimAnswer time_answer(const ReportInput& input) {
  static const std::vector<ClaimRow> claims = load_claims({});
  const View view = view_of(input);
  ClaimAnswer answer = answer_to(answer_claims(claims, view), "guide-speedup", Quantity::speedup);
  answer.where = nullptr;  // the view ends here
  return answer;
}

TEST(AnswerClaims, AnEqualityIsNoGainThatWasReproduced) {
  ClaimRow claim;
  claim.claimed = 1.005;
  Measured equal = exact_ratio(1.001), more = exact_ratio(1.2);
  EXPECT_FALSE(is_about_a_gain({.claim = &claim, .verdict = ClaimVerdict::reproduced, .measured = equal}));
  EXPECT_TRUE(is_about_a_gain({.claim = &claim, .verdict = ClaimVerdict::reproduced, .measured = more}));
  EXPECT_TRUE(is_about_a_gain({.claim = &claim, .verdict = ClaimVerdict::not_testable}));
  claim.claimed = 1.3;
  EXPECT_TRUE(is_about_a_gain({.claim = &claim, .verdict = ClaimVerdict::no_gain, .measured = equal}));
}

TEST(AnswerClaims, FindEqualityInSeveralProcessesOnly) {
  ReportInput input = measured_by_five(1.004);
  EXPECT_EQ(time_answer(input).verdict, ClaimVerdict::no_gain) << time_answer(input).why;
  for (Record& record : input.records) record.time->process_rounds = {10};
  judge(input.records);
  const ClaimAnswer one = time_answer(input);
  EXPECT_EQ(one.verdict, ClaimVerdict::excluded);
  EXPECT_NE(one.why.find("within one process"), std::string::npos) << one.why;
  EXPECT_NE(one.why.find("the interval holds no effect"), std::string::npos) << one.why;
}

// random order takes 1.08 times as long as linear order in the sample.
TEST(AnswerClaims, TellThePriceOfTheTableFromThatOfTheOrder) {
  const ClaimAnswer table = time_answer(measured_by_five(1.08));
  EXPECT_EQ(table.verdict, ClaimVerdict::no_gain) << "as slow as random order: " << table.why;
  EXPECT_EQ(table.control_name, "dilated/random");
  EXPECT_EQ(time_answer(measured_by_five(1.3)).verdict, ClaimVerdict::contradicted);
  ReportInput alone = measured_by_five(1.3);
  std::erase_if(alone.records,
                [](const Record& record) { return record.variant.kernel().order == "random"; });
  const ClaimAnswer open = time_answer(alone);
  EXPECT_EQ(open.verdict, ClaimVerdict::excluded);
  EXPECT_NE(open.why.find("no control was measured"), std::string::npos) << open.why;
}

TEST(AnswerClaims, TakeLinearOrderThroughATableAsTheControlIfItIsThere) {
  ReportInput input = measured_by_five(1.2);
  Record gathered = input.records[1];
  gathered.variant = input.records[0].variant;
  gathered.variant.change().rows = KeyRows::gathered;
  gathered.variant_id = variant_id(gathered.variant);
  input.records.push_back(gathered);
  judge(input.records);
  const ClaimAnswer answer = time_answer(input);
  EXPECT_EQ(answer.control_name, "dilated/linear.gathered");
  EXPECT_EQ(answer.verdict, ClaimVerdict::no_gain) << "linear order through the table takes as long";
}

TEST(AnswerClaims, WithholdsWhatAnotherProcessDisturbed) {
  ReportInput input;
  sample::add_comparison(input.records, sample::work(8192, {{4096, 2}}), 1);
  for (Record& record : input.records) (*record.environment)["device_state"] = {{"foreign_processes", 2}};
  const std::vector<ClaimRow> claims = load_claims({});
  const View view = view_of(input);
  const std::vector<ClaimAnswer> answers = answer_claims(claims, view);
  for (const Quantity quantity : {Quantity::speedup, Quantity::cache_lines}) {
    const ClaimAnswer& answer = answer_to(answers, "guide-speedup", quantity);
    EXPECT_EQ(answer.verdict, ClaimVerdict::not_testable);
    EXPECT_NE(answer.why.find("another process used the GPU"), std::string::npos) << answer.why;
  }
}

TEST(AnswerClaims, OfAnotherDtypeStandApart) {
  const ClaimAnswer other = time_answer(measured_by_five(0.7, Dtype::bf16));
  EXPECT_TRUE(other.other_dtype);
  EXPECT_NE(other.why.find("measured in bf16, we assumed fp32"), std::string::npos);
  EXPECT_FALSE(time_answer(measured_by_five(0.7)).other_dtype);
}

TEST(AnswerClaims, WithoutAConfigurationAreGivenForEachDtype) {
  ReportInput input = measured_by_five(0.8), other = measured_by_five(1.3, Dtype::bf16);
  input.records.insert(input.records.end(), other.records.begin(), other.records.end());
  const std::vector<ClaimRow> claims = load_claims({});
  const View view = view_of(input);
  std::vector<std::pair<Dtype, double>> found;
  for (const ClaimAnswer& answer : answer_claims(claims, view))
    if (answer.claim->claim_id == "guide-headlines" && answer.claim->quantity == Quantity::speedup)
      found.emplace_back(answer.dtype, answer.measured->ratio);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].first, Dtype::fp32);
  EXPECT_NEAR(found[0].second, 1 / 0.8, 1e-6);
  EXPECT_NEAR(found[1].second, 1 / 1.3, 1e-6);
}

TEST(AnswerClaims, PoolIsJudgedWhereBothFormsStand) {
  ReportInput input;
  sample::add_comparison(input.records, sample::work(8192, {{2048, 1}}), 1);
  Record fresh = input.records[1];
  fresh.variant.change().buffers = Buffers::fresh;
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
