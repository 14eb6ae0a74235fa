#include "reports/tables/claim_headlines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reports/claims/cache_levels.hpp"
#include "reports/claims/claims_file.hpp"
#include "reports/tables/claim_cells.hpp"
#include "reports/tables/claim_levels.hpp"
#include "reports/tables/claim_tables.hpp"
#include "tests/reports/sample_records.hpp"
#include "tests/reports/table_cell.hpp"

namespace hilbench {
namespace {

// What the row compares.
std::string compared_in(const Table& table, const std::vector<Cell>& row) {
  for (std::size_t column = 0; column < table.columns.size(); ++column)
    if (table.columns[column].key == "compares") return row[column].text;
  return "no such column";
}

TEST(Tables, AHeadlineSumsUpTheRowsOfAClaim) {
  const ReportInput input = sample::input();
  const View view = view_of(input);
  const auto claims = load_claims({});  // answers refer to them
  const std::vector<ClaimAnswer> answers = answer_claims(claims, view);
  const Table table = headline_claims_table(answers);
  const Table judged = judged_claims_table(answers);
  EXPECT_GT(table.rows.size(), 2u);
  EXPECT_EQ(table.columns[1].key, "measured");
  for (const auto& row : table.rows) EXPECT_EQ(row[1].link.find("#record"), 0u) << row[0].text;
  EXPECT_LT(table.rows.size(), judged.rows.size());
  std::set<std::pair<std::string, std::string>> seen;
  for (const auto& row : table.rows)
    EXPECT_TRUE(seen.insert({row[0].text, compared_in(table, row)}).second) << row[0].text;
  for (const auto& row : judged.rows) {
    const bool alone = seen.contains({row[0].text, compared_in(judged, row)});
    EXPECT_TRUE(alone || seen.contains({row[0].text, compared_in(judged, row) + ", in fp32"})) << row[0].text;
  }
}

TEST(Tables, AnExcludedClaimHasItsOwnWordAndColour) {
  ClaimRow claim{.claim_id = "one", .quantity = Quantity::speedup, .claimed = 1.5};
  const auto settled = [&](Interval interval) {
    ClaimAnswer answer{.claim = &claim, .measured = Measured{1.1, interval, 5, Verdict::inconclusive, 0.01}};
    settle(answer);
    return answer;
  };
  const std::vector<ClaimAnswer> answers = {settled({1, 1.2}), settled({0.9, 1.6}), settled({1, 1.1})};
  const Table judged = judged_claims_table(answers);
  EXPECT_EQ(cell(judged, 0, "verdict"), "claim excluded");
  EXPECT_EQ(cell(judged, 1, "verdict"), "inconclusive");
  EXPECT_EQ(cell(claims_table(answers), 0, "verdict"), "claim excluded");
  EXPECT_EQ(cell(headline_claims_table(answers), 0, "verdict"), "2 excluded, 1 inconclusive");
  EXPECT_NE(shown_verdict(ClaimVerdict::excluded, true).tone,
            shown_verdict(ClaimVerdict::inconclusive, true).tone);
}

TEST(Tables, LevelsOfAClaimSayTheDtype) {
  const auto claims = load_claims({});
  const auto claim =
      std::find_if(claims.begin(), claims.end(), [](const ClaimRow& row) { return row.any_case; });
  ASSERT_NE(claim, claims.end());
  std::vector<ClaimAnswer> answers;
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16})
    answers.push_back({.claim = &*claim,
                       .verdict = ClaimVerdict::no_gain,
                       .dtype = dtype,
                       .levels = {{.level = &miss_levels().front()}}});
  const Table levels = claim_levels_table(answers), table = claims_table(answers);
  for (const auto& [row, dtype] : {std::pair<std::size_t, const char*>{0, "fp32"}, {1, "bf16"}}) {
    EXPECT_EQ(cell(levels, row, "dtype"), dtype);
    EXPECT_EQ(cell(table, row, "dtype"), dtype);
  }
  answers[0].verdict = ClaimVerdict::not_testable;
  EXPECT_EQ(cell(claims_table(answers), 0, "dtype"), "") << "none was measured";
}

}  // namespace
}  // namespace hilbench
