#include "reports/claims/claims.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "kernels/base/text/error.hpp"
#include "reports/claims/claims_file.hpp"

namespace hilbench {
namespace {

struct JudgeCase {
  double claimed;
  Interval measured;
  Verdict verdict;
  std::optional<Verdict> control;
  ClaimVerdict wanted;
};

TEST(JudgeClaim, TakesTheFirstRuleThatFits) {
  constexpr auto faster = Verdict::faster, slower = Verdict::slower, equivalent = Verdict::equivalent,
                 no_verdict = Verdict::inconclusive;
  constexpr auto reproduced = ClaimVerdict::reproduced, no_gain = ClaimVerdict::no_gain,
                 contradicted = ClaimVerdict::contradicted,
                 smaller_than_claimed = ClaimVerdict::smaller_than_claimed, excluded = ClaimVerdict::excluded,
                 open = ClaimVerdict::inconclusive;
  const JudgeCase cases[] = {
      // 1. a claim of no effect
      {1.005, {0.997, 1.003}, equivalent, {}, reproduced},
      {0.995, {0.997, 1.003}, equivalent, {}, reproduced},
      {1, {0.997, 1.003}, equivalent, {}, reproduced},
      {1, {0.9, 1.1}, no_verdict, {}, open},
      {1, {1.1, 1.2}, faster, {}, contradicted},
      {1, {1.003, 1.02}, no_verdict, {}, open},
      {1.01, {0.997, 1.003}, equivalent, {}, reproduced},
      {0.99, {0.997, 1.003}, equivalent, {}, no_gain},
      {1 / 1.01, {0.997, 1.003}, equivalent, {}, reproduced},
      // 2. no gain: equal, or the price of the table
      {1.3, {0.997, 1.003}, equivalent, {}, no_gain},
      {1.3, {0.8, 0.9}, slower, equivalent, no_gain},
      {1.3, {0.8, 0.9}, slower, no_verdict, no_gain},
      {1.3, {0.8, 0.9}, slower, faster, no_gain},
      // 3. slower than both
      {1.3, {0.8, 0.9}, slower, slower, contradicted},
      {1.3, {0.8, 0.9}, slower, {}, excluded},  // without a control
      // 4. reaches the claim and lies more than halfway there
      {1.3, {1.25, 1.35}, faster, {}, reproduced},
      {1.3, {1.31, 1.5}, faster, {}, reproduced},
      {1.3, {1.151, 1.3}, faster, {}, reproduced},
      {1.3, {1.149, 1.3}, faster, {}, open},
      // 5. faster, and does not reach the claim
      {1.3, {1.1, 1.29}, faster, {}, smaller_than_claimed},
      {7.95, {1.1, 1.29}, faster, {}, smaller_than_claimed},
      // 6. neither, but it does not reach the claim
      {1.3, {1.001, 1.02}, no_verdict, {}, excluded},
      {1.3, {0.9, 1.29}, no_verdict, slower, excluded},
      // 7. the rest
      {1.3, {0.9, 1.4}, no_verdict, slower, open},
      // mirrored
      {0.82, {0.78, 0.85}, slower, {}, reproduced},
      {0.82, {0.5, 0.6}, slower, {}, reproduced},
      {0.82, {0.9, 0.95}, slower, {}, smaller_than_claimed},
      {0.82, {0.997, 1.003}, equivalent, {}, no_gain},
      {0.82, {1.05, 1.1}, faster, faster, contradicted},
      {0.82, {1.05, 1.1}, faster, equivalent, no_gain},
      {0.82, {0.8, 1.1}, no_verdict, {}, open},
  };
  for (const JudgeCase& one : cases) {
    const Measured measured{1, one.measured, 5, one.verdict, 0.01};
    EXPECT_EQ(to_string(judge_claim(one.claimed, measured, one.control)), to_string(one.wanted))
        << one.claimed << " against [" << one.measured.low << ", " << one.measured.high << "]";
  }
}

TEST(JudgeClaim, NeedsNoControlForExactCounts) {
  EXPECT_EQ(judge_claim(1.39, exact_ratio(1), {}), ClaimVerdict::no_gain);
  EXPECT_EQ(judge_claim(1.39, exact_ratio(0.66), {}), ClaimVerdict::contradicted);
  EXPECT_EQ(judge_claim(1.39, exact_ratio(1.39), {}), ClaimVerdict::reproduced);
  EXPECT_EQ(judge_claim(1.39, exact_ratio(1.2), {}), ClaimVerdict::smaller_than_claimed);
}

TEST(JudgeClaim, OfAnUnknownIntervalIsInconclusive) {
  EXPECT_EQ(judge_claim(1.3, {1.5, kUnknownInterval, 1}, {}), ClaimVerdict::inconclusive);
}

TEST(JudgeClaim, ExcludesAClaimIfTheIntervalEndsBeforeIt) {
  const auto excluded = [](double claimed, Interval measured) {
    const ClaimVerdict verdict = judge_claim(claimed, {1, measured, 5, Verdict::inconclusive, 0.01}, {});
    EXPECT_TRUE(verdict == ClaimVerdict::excluded || may_hold(verdict)) << to_string(verdict);
    return verdict == ClaimVerdict::excluded;
  };
  EXPECT_TRUE(excluded(1.3, {1.001, 1.02}));
  EXPECT_TRUE(excluded(1.3, {0.8, 0.9})) << "slower";
  EXPECT_FALSE(excluded(1.3, {0.9, 1.3}));
  EXPECT_FALSE(excluded(1.3, {1.31, 1.4})) << "more than claimed";
  EXPECT_TRUE(excluded(0.8, {0.85, 1.1}));
  EXPECT_FALSE(excluded(0.8, {0.7, 1.1}));
  EXPECT_FALSE(excluded(1.005, {0.9, 1.001})) << "that is no gain";
  EXPECT_FALSE(excluded(1.3, kUnknownInterval));
}

TEST(Claims, EveryRowOfTheEmbeddedFileHasACaseOrSaysWhyNot) {
  const std::vector<ClaimRow> rows = load_claims({});
  std::set<std::string> ids;
  for (const ClaimRow& row : rows) {
    ids.insert(row.claim_id);
    EXPECT_FALSE(row.title.empty());
    EXPECT_FALSE(row.source.empty());
    EXPECT_FALSE(row.stated.empty()) << row.claim_id;
    ASSERT_TRUE(row.claimed) << row.claim_id;
    const bool over_all_cases = row.quantity == Quantity::buffers || row.quantity == Quantity::break_even ||
                                row.quantity == Quantity::communication || row.quantity == Quantity::longest;
    EXPECT_TRUE(row.work || row.any_case || over_all_cases || !row.untestable.empty())
        << row.claim_id << ": " << row.stated;
    EXPECT_FALSE(row.work && row.any_case) << row.claim_id;
    EXPECT_TRUE(row.compared.variant.named()) << row.claim_id;
    EXPECT_FALSE(row.provenance.empty()) << row.claim_id;
    const bool compares = row.quantity != Quantity::longest && row.untestable.empty();
    EXPECT_TRUE(row.compared.against.named() || !compares) << row.claim_id;
    EXPECT_TRUE(!row.compared.controls.empty() || !compares || row.quantity == Quantity::buffers)
        << row.claim_id << ": one option and without have one order";
  }
  EXPECT_EQ(ids.size(), 16u);
  EXPECT_EQ(rows.size(), 63u);
  EXPECT_EQ(
      std::count_if(rows.begin(), rows.end(), [](const ClaimRow& row) { return row.untestable.empty(); }),
      56);
  EXPECT_EQ(std::count_if(rows.begin(), rows.end(), [](const ClaimRow& row) { return row.any_case; }), 11);
  EXPECT_EQ(named_claims({"seeds"}).size(), 50u) << "each figure once: without its other readings";
  EXPECT_EQ(named_claims({"hybrid-core-as-run"}).size(), 6u);
  EXPECT_EQ(named_claims({"seeds", "hybrid-core-as-run"}).size(), 56u);
}

const ClaimRow& row_of(const std::vector<ClaimRow>& rows, std::string_view id, Quantity quantity,
                       std::size_t nth) {
  for (const ClaimRow& row : rows)
    if (row.claim_id == id && row.quantity == quantity && nth-- == 0) return row;
  throw std::out_of_range(std::string(id));
}

// What the program of the report ran, beside what its table states.
TEST(Claims, ReadByTheRulesOfProgramsHaveOtherCases) {
  const std::vector<ClaimRow> rows = load_claims({});
  const auto case_of = [&](const char* id, std::size_t nth) {
    return case_id(*row_of(rows, id, Quantity::speedup, nth).work);
  };
  EXPECT_EQ(case_of("hybrid-core", 3), "n16384-w4096-r2-h8-d64-fp32-p1-auto");
  EXPECT_EQ(case_of("hybrid-core-as-run", 3),
            case_of("hybrid-core", 3) + "-head_offset.branch-branch_heads.partition");
  EXPECT_EQ(case_of("dilated-kernel-as-run", 2),
            "n4096-w512-r64-h12-d64-fp32-p1-auto-queries.dense-head_offset.none");
  EXPECT_EQ(row_of(rows, "dilated-kernel-as-run", Quantity::speedup, 2).compared.beside.id,
            "dilated/snake@tokens");
  const ClaimRow& inferred = row_of(rows, "dilated-kernel-as-run", Quantity::speedup, 0);
  EXPECT_EQ(inferred.work->batch, 2);
  EXPECT_EQ(inferred.how.find("inferred"), 0u) << inferred.how;
  EXPECT_EQ(inferred.provenance, "unsourced");
}

TEST(Claims, MergeRowConfigurationAndAssumption) {
  const std::vector<ClaimRow> rows = load_claims({});
  const ClaimRow& assumed = row_of(rows, "guide-speedup", Quantity::speedup, 1);
  EXPECT_EQ(case_id(*assumed.work), "n16384-w8192-r4-h8-d64-fp32-p1-auto");
  EXPECT_NE(assumed.configuration.find("assumed: batch 1, heads 8"), std::string::npos);
  EXPECT_EQ(assumed.provenance, "unsourced");
  EXPECT_FALSE(assumed.names_dtype) << "fp32 is our assumption";
  EXPECT_TRUE(row_of(rows, "hybrid-core", Quantity::speedup, 0).names_dtype);
  const ClaimRow& kernel = row_of(rows, "dilated-kernel", Quantity::speedup, 2);
  EXPECT_EQ(case_id(*kernel.work), "n4096-w512-r64-h12-d64-fp32-p1-auto");
  EXPECT_EQ(kernel.provenance, "measured");
  EXPECT_EQ(row_of(rows, "dilated-kernel", Quantity::speedup, 0).provenance, "unsourced");
  const ClaimRow& memory = row_of(rows, "guide-memory", Quantity::memory, 0);
  EXPECT_EQ(case_id(*memory.work), "n100000-w2048.4096.8192-r1.2.4-h8-d64-fp32-p1-auto");
  EXPECT_NEAR(*memory.claimed, 1 / (1 - 0.158), 1e-12);
}

TEST(Claims, ReductionsBecomeRatiosAndRangesAreJudgedByTheirLowEnd) {
  const std::vector<ClaimRow> rows = load_claims({});
  const ClaimRow& lines = row_of(rows, "guide-headlines", Quantity::cache_lines, 0);
  EXPECT_NEAR(*lines.claimed, 1 / 0.75, 1e-12);
  EXPECT_NEAR(lines.claimed_range->high, 1 / 0.6, 1e-12);
  EXPECT_TRUE(lines.any_case) << "it states no configuration";
  EXPECT_EQ(lines.untestable, "");
  const ClaimRow& ring = row_of(rows, "analysis-projection", Quantity::speedup, 1);
  EXPECT_EQ(ring.untestable, "");
  EXPECT_TRUE(ring.any_case) << "it states length and ring size, no pattern";
  EXPECT_EQ(ring.sequence_length, 32768);
  EXPECT_EQ(ring.ring_size, 8);
  const ClaimRow& length = row_of(rows, "scaling-projection", Quantity::longest, 6);
  EXPECT_EQ(length.device, "a100-80gb");
  EXPECT_EQ(length.ring_size, 64);
}

constexpr std::string_view kNoVariant =
    "claims:\n  - id: a\n    title: t\n    source: {seed: s, section: x}\n    provenance: measured\n";
constexpr std::string_view kHead =
    "claims:\n  - id: a\n    title: t\n    source: {seed: s, section: x}\n    provenance: measured\n"
    "    test: {variant: dilated/hilbert, against: dilated/linear}\n";

ClaimRow only_row(const std::string& text) {
  const std::vector<ClaimRow> rows = parse_claims(text, "my.yaml");
  EXPECT_EQ(rows.size(), 1u);
  return rows.at(0);
}

TEST(Claims, ARowsOwnTestComesBeforeThatOfItsClaimAndOfTheFile) {
  const std::string file = "test: {variant: dilated/snake, against: dilated/linear, order_chunk: 64}\n";
  const std::string rows = "    rows: [{speedup: 2}]\n";
  const ClaimRow of_file = only_row(file + std::string(kNoVariant) + rows);
  EXPECT_EQ(of_file.compared.variant.id, "dilated/snake");
  EXPECT_EQ(of_file.compared.order_chunk, 64);
  const ClaimRow of_claim = only_row(file + std::string(kHead) + rows);
  EXPECT_EQ(of_claim.compared.variant.order, "hilbert");
  EXPECT_EQ(of_claim.compared.order_chunk, std::nullopt) << "as a whole, not key by key";
  const ClaimRow of_row = only_row(file + std::string(kHead) +
                                   "    rows: [{speedup: 2, how: h, test: {variant: "
                                   "dilated_simt/morton.64.slot@tokens/grouped.8, against: "
                                   "torch_sdpa.fa3, control: [dilated/random, dilated/linear.gathered]}}]\n");
  EXPECT_EQ(of_row.compared.variant.kernel, "dilated_simt");
  EXPECT_EQ(of_row.compared.variant.order, "morton");
  EXPECT_EQ(of_row.compared.variant.traversal, "grouped");
  EXPECT_EQ(of_row.compared.against.order, "") << "a baseline";
  ASSERT_EQ(of_row.compared.controls.size(), 2u);
  EXPECT_EQ(of_row.compared.controls[1].id, "dilated/linear.gathered");
  EXPECT_EQ(of_row.how, "h");
  const ClaimRow stated =
      only_row(file + std::string(kNoVariant) + "    config: {order_chunk: 128}\n" + rows);
  EXPECT_EQ(stated.compared.order_chunk, 128) << "what the claim states of its case";
}

TEST(Claims, TheReportsCompareHilbertOrderWithLinearOrderIfTheySayNothingElse) {
  const ComparedVariants& compared = compared_by_reports();
  EXPECT_EQ(compared.variant.id, "dilated/hilbert");
  EXPECT_EQ(compared.against.id, "dilated/linear");
  EXPECT_EQ(compared.beside.id, "dilated/hilbert@tokens");
  EXPECT_EQ(compared.order_chunk, 4096);
  ASSERT_EQ(compared.controls.size(), 2u);
  EXPECT_EQ(compared.controls[0].id, "dilated/linear.gathered");
  const std::vector<ClaimRow> rows = load_claims({});
  const ClaimRow& pool = row_of(rows, "hybrid-options", Quantity::buffers, 0);
  EXPECT_TRUE(pool.compared.variant.any());
  EXPECT_EQ(pool.compared.against.option, "fresh");
}

std::string tested(const std::string& test) {
  return std::string(kNoVariant) + "    rows:\n      - {speedup: 2, test: {" + test + "}}";
}

std::string nested_dashes() {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "- ";
  return text;
}

TEST(Claims, BadFilesAreUsageErrorsWithTheirPlace) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "not a claims file"},
      {"claims: 3", "not a claims file"},
      {"claims: [1]", "claim is not a map"},
      {"claims: [1, 2", "file cannot be read"},
      {"{: [", "a key must be a word"},
      {std::string(kHead), "has no rows"},
      {std::string(kHead) + "    rows: []", "has no rows"},
      {std::string(kHead) + "    rows: [{sequence_length: 4}]", "row claims nothing"},
      {std::string(kHead) + "    rows: [{spedup: 4}]", "did you mean 'speedup'?"},
      {std::string(kHead) + "    rows: [{speedup: -1}]", "not a positive number"},
      {std::string(kHead) + "    rows: [{speedup: .nan}]", "not a positive number"},
      {std::string(kHead) + "    rows: [{reduction: 1.5}]", "between 0 and 1"},
      {std::string(kHead) + "    rows: [{metric: beauty, value: 1}]", "unknown metric 'beauty'"},
      {std::string(kHead) + "    rows: [{speedup_low: 1}]", "'speedup_low' without 'speedup_high'"},
      {std::string(kHead) + "    rows: [{speedup_low: 3, speedup_high: 2}]",
       "'speedup_low' is above 'speedup_high'"},
      {std::string(kHead) + "    rows: [{speedup: 2, sequence_length: 8, segments: [4], dilations: [1, 2]}]",
       "differ in number"},
      {std::string(kHead) + "    rows: [{speedup: 2, sequence_length: 0, segments: [4], dilations: [1]}]",
       "not an integer from 1"},
      {std::string(kHead) +
           "    rows: [{speedup: 2, sequence_length: 8, segments: [4], dilations: [1], dtype: f8}]",
       "allowed: fp32, bf16, fp16"},
      {std::string(kHead) + "    rows: [{speedup: 2}]\n" + std::string(kHead.substr(8)) +
           "    rows: [{speedup: 2}]",
       "is defined twice"},
      {std::string(kHead) + "    reading_of: b\n    rows: [{speedup: 2}]", "no claim 'b' before this one"},
      {std::string(kHead) + "    rows: [{speedup: 2, dtype: f8}]", "allowed: fp32, bf16, fp16"},
      {std::string(kHead) + "    rows: [{speedup: 2, segments: 2048}]", "'segments' is not a list"},
      {std::string(kHead) + "    rows: [{speedup: 2, metric: sped}]", "unknown metric 'sped'"},
      {std::string(kHead) + "    rows: [{value: 2, metric: time_ms}]",
       "'value' or 'low' with metric 'time_ms'"},
      {std::string(kHead) + "    rows: [{speedup: 2}]\nclaim: []\n", "unknown key 'claim'"},
      {std::string(kNoVariant) + "    rows: [{speedup: 2}]", "row names no variant"},
      {tested("variant: dilated/hilbert"), "names nothing that its variant is compared with"},
      {tested("against: dilated/linear"), "a test without variant"},
      {tested("variant: dilated/, against: dilated/linear"), "no order in variant 'dilated/'"},
      {tested("variant: dilated/hilbert.slt, against: dilated/linear"),
       "unknown option 'slt' in variant 'dilated/hilbert.slt' (my.yaml:7, claims[0].rows[0].test.variant): "
       "allowed"},
      {tested("variant: dilated/hilbert.slt, against: dilated/linear"), "did you mean 'slot'?"},
      {tested("variant: dilated/hilbert@token, against: dilated/linear"), "unknown scope 'token'"},
      {tested("variant: dilated/hilbert, against: dilated/linear, control: [dilated/random.kqv]"), "'kqv'"},
      {tested("variant: dilated/hilbert, against: [a, b]"), "no id of a variant"},
      {tested("variant: '*', against: '*.fresh'"), "'*' in a row that is about no option"},
      {tested("variant: '*', against: dilated/linear"), "'*' without '*'"},
      {tested("variant: dilated/hilbert, against: '*.fresh'"), "'*' without '*'"},
      {tested("variant: '*', against: '*.stale'"), "unknown option 'stale'"},
      {std::string(kHead) + "    rows: [{option: memory_pool, speedup: 2}]", "about an option without '*'"},
      {std::string(kNoVariant) +
           "    rows: [{metric: ring_communication_reduction, value: 0.1, test: {variant: dilated/hilbert, "
           "against: gemm}}]",
       "without two orders"},
      {"seeds: {other.txt: Other}\n" + std::string(kHead) + "    rows: [{speedup: 2}]",
       "is not under 'seeds'"},
      {"claims: " + std::string(20000, '['), "nests too deeply"},
      {nested_dashes(), "nests too deeply"},
      {std::string(2 << 20, ' '), "too long"},
  };
  for (const auto& [text, message] : cases) {
    try {
      parse_claims(text, "my.yaml");
      ADD_FAILURE() << "accepted: " << text.substr(0, 200);
    } catch (const UsageError& error) {
      const std::string said = error.what();
      EXPECT_NE(said.find(message), std::string::npos) << said;
      EXPECT_NE(said.find("my.yaml"), std::string::npos) << said;
      EXPECT_EQ(said.find('\n'), std::string::npos);
    }
  }
  EXPECT_THROW(load_claims("/no/such/claims.yaml"), UsageError);
}

TEST(Claims, NameTheirDocumentByItsTitle) {
  const std::string claim =
      "claims:\n  - {id: a, title: T, source: {seed: x.txt, section: S}, provenance: measured, rows: "
      "[{metric: speedup, value: 2, test: {variant: dilated/hilbert, against: dilated/linear}}]}\n";
  EXPECT_EQ(parse_claims(claim, "c.yaml").at(0).source, "x.txt: S");
  EXPECT_EQ(parse_claims("seeds: {x.txt: A Report}\n" + claim, "c.yaml").at(0).source, "A Report: S");
  EXPECT_THROW(parse_claims("seeds: [x.txt]\n" + claim, "c.yaml"), UsageError);
  for (const ClaimRow& row : load_claims({}))
    EXPECT_EQ(row.source.find(".txt"), std::string::npos) << row.source;
}

}  // namespace
}  // namespace hilbench
