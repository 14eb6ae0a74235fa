#include "reports/claims/claims_by_variant.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "kernels/base/text/error.hpp"
#include "reports/claims/claims_file.hpp"
#include "reports/document/document.hpp"
#include "reports/tables/literature.hpp"
#include "tests/reports/windows_records.hpp"

namespace hilbench {
namespace {

std::string paper(const std::string& claim) {
  return "claims: [{id: p, title: T, source: {arxiv: '1'}, provenance: measured, rows: [" + claim + "]}]";
}
std::string paper_claim(const std::string& claimed, const std::string& test) {
  return paper("{says: s, speedup: " + claimed + ", test: {compares: c, " + test + "}}");
}
std::string paper_misses(const std::string& test) {
  return paper("{says: s, metric: cache_miss_reduction, value: 0.5, test: {compares: c, " + test + "}}");
}
const std::string kHilbertTest =
    "variant: dilated/hilbert.qkv, against: dilated/linear, control: dilated/random.qkv";

std::string refusal(const std::string& text) {
  try {
    parse_claims(text, "p.yaml");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "(accepted)";
}

// The one answer to the one claim of `text`.
ClaimAnswer answer_to(const std::string& text, const std::vector<Record>& records) {
  static std::vector<std::vector<ClaimRow>> kept;  // answers refer to them
  static std::vector<ReportInput> inputs;
  static std::vector<View> views;
  kept.reserve(100), inputs.reserve(100), views.reserve(100);
  kept.push_back(parse_claims(text, "p.yaml"));
  inputs.emplace_back().records = records;
  views.push_back(view_of(inputs.back()));
  const std::vector<ClaimAnswer> answers = answer_claims(kept.back(), views.back());
  EXPECT_EQ(answers.size(), 1u);
  return answers.at(0);
}

TEST(Literature, EveryClaimOfTheFileHasATestOrSaysWhyNot) {
  std::set<std::string> papers;
  for (const ClaimRow& each : built_in_claims()) {
    if (!of_paper(each)) continue;
    papers.insert(each.claim_id);
    EXPECT_FALSE(each.says.empty());
    EXPECT_EQ(each.arxiv.size(), 10u) << each.claim_id;
    EXPECT_TRUE(each.claimed || !each.test) << each.claim_id;
    EXPECT_NE(each.test.has_value(), !each.untestable.empty()) << each.claim_id;
  }
  EXPECT_EQ(papers.size(), 9u);
  const std::vector<std::string>& names = claim_names();
  EXPECT_EQ(std::vector<std::string>(names.end() - 4, names.end()),
            (std::vector<std::string>{"hilbert-local", "sliding-tile", "neighborhood", "sawtooth"}))
      << "those with a test";
}

TEST(Literature, AFileThatIsNoneIsRefusedWithItsPlace) {
  EXPECT_EQ(refusal(paper("{says: s, speedup: 2, untestable: u}")), "(accepted)");
  EXPECT_EQ(refusal(paper("{says: s, untestable: u}")), "(accepted)");
  EXPECT_EQ(refusal(paper_claim("2", "case: {grid: [64, 64]}, " + kHilbertTest)), "(accepted)");
  EXPECT_NE(refusal(paper("{says: s, untestable: u, test: {}}")).find("give one of them"), std::string::npos);
  EXPECT_NE(refusal(paper("{says: s, test: {compares: c, case: {grid: [64, 64]}, " + kHilbertTest + "}}"))
                .find("a test without a figure"),
            std::string::npos);
  EXPECT_NE(refusal(paper_claim("0", "case: {grid: [64, 64]}, " + kHilbertTest)).find("'speedup'"),
            std::string::npos);
  EXPECT_NE(
      refusal(paper_claim("2", "case: {gird: [64, 64]}, " + kHilbertTest)).find("'gird' is no parameter"),
      std::string::npos);
  EXPECT_NE(refusal(paper_claim("2", kHilbertTest)).find("a test without case"), std::string::npos);
  EXPECT_NE(refusal(paper("{says: s, speedup: 2, test: {varant: a}}")).find("did you mean 'variant'?"),
            std::string::npos);
}

TEST(Literature, TimesOfOneCaseAreJudgedLikeTheClaimsOfTheSeeds) {
  const std::string test = "case: {grid: [64, 64], window: [13, 13], edges: cut}, " + kHilbertTest;
  const ClaimAnswer reproduced = answer_to(paper_claim("2", test), sample::windowed_records());
  EXPECT_EQ(reproduced.verdict, ClaimVerdict::reproduced) << reproduced.why;
  EXPECT_NEAR(reproduced.measured->ratio, 2, 0.02);
  EXPECT_NEAR(reproduced.with_permutation->ratio, 1.5, 0.02);
  EXPECT_NEAR(reproduced.against_control->ratio, 8, 0.1);
  EXPECT_EQ(answer_to(paper_claim("18", test), sample::windowed_records()).verdict,
            ClaimVerdict::smaller_than_claimed);
}

TEST(Literature, AnOrderThatIsSlowerThanItsControlContradicts) {
  std::vector<Record> records = sample::windowed_records();
  for (const auto& [row, factor] : {std::pair(1, 9.0), std::pair(2, 7.0)}) {
    sample::time(records[row], 1, factor, row);
    sample::compare_with(records[row], records.front());
  }
  const std::string test = "case: {grid: [64, 64]}, " + kHilbertTest;
  EXPECT_EQ(answer_to(paper_claim("2", test), records).verdict, ClaimVerdict::contradicted);
}

TEST(Literature, DenseAttentionIsOfTheCaseOnTheSameTokens) {
  const std::string test =
      "case: {grid: [64, 64]}, variant: dilated/hilbert.qkv, against: dilated/linear, dense: true";
  std::vector<Record> records = sample::windowed_records();
  const ClaimAnswer answer = answer_to(paper_claim("10", test), records);
  EXPECT_NEAR(answer.measured->ratio, 10, 0.1) << "not 2, which raster order with windows gives";
  EXPECT_NEAR(answer.with_permutation->ratio, 7.5, 0.1);
  EXPECT_NE(answer.why.find("cases of their own"), std::string::npos);
  records.pop_back();
  const ClaimAnswer without = answer_to(paper_claim("10", test), records);
  EXPECT_EQ(without.verdict, ClaimVerdict::not_testable);
  EXPECT_EQ(without.why, "no record of dilated/linear in the case with dense attention on these tokens");
}

TEST(Literature, WhatAStoreLacksIsSaid) {
  const std::string other = "case: {grid: [64, 64], window: [31, 31]}, " + kHilbertTest;
  EXPECT_EQ(answer_to(paper_claim("2", other), sample::windowed_records()).why, "no such case in this store");
  std::vector<Record> records = sample::windowed_records();
  records[1].status = Status::skipped;
  records[1].reason = "does not fit";
  const std::string test = "case: {grid: [64, 64]}, " + kHilbertTest;
  EXPECT_EQ(answer_to(paper_claim("2", test), records).why, "dilated/hilbert.qkv is skipped: does not fit");
  EXPECT_EQ(answer_to(paper("{says: s, speedup: 2, untestable: end to end}"), records).why, "end to end");
}

TEST(Literature, MissesAreJudgedByCounters) {
  const std::string test = "case: {grid: [64, 64]}, " + kHilbertTest;
  const ClaimAnswer answer = answer_to(paper_misses(test), sample::windowed_records());
  EXPECT_EQ(answer.verdict, ClaimVerdict::not_testable);
  EXPECT_EQ(answer.why.find("no counters"), 0u) << answer.why;
}

// Half the misses of the last level, twice those of the L1.
TEST(Literature, MissesOfTheLevelThatAPaperNamesAreJudgedAlone) {
  std::vector<Record> records = sample::windowed_records();
  const auto count = [](Record& record, double last_level, double l1) {
    for (const auto& [name, value] : {std::pair("llc_reads", 1e7), std::pair("llc_read_misses", last_level),
                                      std::pair("l1d_reads", 1e8), std::pair("l1d_read_misses", l1)}) {
      Counter& counter = record.counters[name];
      counter.value = value;
      for (const double factor : {0.999, 1.0, 1.001, 1.0, 0.9995}) counter.counts.push_back(value * factor);
      counter.source = "perf";
    }
  };
  for (Record& record : records) {
    const bool hilbert = record.variant_id == "dilated/hilbert.qkv";
    count(record, hilbert ? 2e5 : 4e5, hilbert ? 8e6 : 4e6);
  }
  const std::string test = "case: {grid: [64, 64], window: [13, 13]}, " + kHilbertTest;
  const ClaimAnswer named = answer_to(paper_misses(test + ", level: last-level cache"), records);
  EXPECT_EQ(named.verdict, ClaimVerdict::reproduced) << named.why;
  EXPECT_NEAR(named.measured->ratio, 2, 0.01);
  EXPECT_EQ(named.why.find("L1"), std::string::npos) << named.why;
  EXPECT_EQ(answer_to(paper_misses(test), records).verdict, ClaimVerdict::inconclusive);
  EXPECT_NE(refusal(paper_misses(test + ", level: L7")).find("'L7'"), std::string::npos);
  const std::string of_time = "case: {grid: [64, 64]}, level: L1, " + kHilbertTest;
  EXPECT_NE(refusal(paper_claim("2", of_time)).find("no misses"), std::string::npos);
}

TEST(Literature, AReportAnswersThePapersThatItsSweepNames) {
  ReportInput input;
  input.records = sample::windowed_records();
  const auto none_of_papers = [](const ReportInput& read) {
    const std::vector<ClaimRow> rows = claims_of(read);
    return std::none_of(rows.begin(), rows.end(), of_paper);
  };
  EXPECT_TRUE(none_of_papers(input));
  input.meta["claims"] = "seeds";
  EXPECT_TRUE(none_of_papers(input));
  input.meta["claims"] = "hilbert-local seeds";
  const View view = view_of(input);
  const std::vector<ClaimRow> rows = claims_of(input);
  const std::vector<ClaimAnswer> all = answer_claims(rows, view);
  const std::vector<ClaimAnswer> answers = answers_of(ClaimOrigin::paper, all);
  ASSERT_EQ(answers.size(), 4u);
  for (const ClaimAnswer& each : answers) EXPECT_EQ(each.claim->claim_id, "hilbert-local");
  EXPECT_EQ(answers_of(ClaimOrigin::report, all).size() + 4, all.size());
  EXPECT_EQ(untestable_papers_table(answers).rows.size(), 4u) << "it has grids of 64 x 64";
  const std::string text = to_markdown(document_of(view, answers, {}, {}));
  EXPECT_NE(text.find("## Papers against measurement"), std::string::npos);
  EXPECT_NE(text.find("no such case in this store"), std::string::npos);
  EXPECT_NE(text.find("Claims of papers: 4 not testable here."), std::string::npos);
  EXPECT_EQ(text.find("names no claims"), std::string::npos);
}

}  // namespace
}  // namespace hilbench
