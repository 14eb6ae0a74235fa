#include "reports/tables/claim_headlines.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reports/claims/claims_file.hpp"
#include "reports/tables/claim_tables.hpp"
#include "tests/reports/sample_records.hpp"

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

}  // namespace
}  // namespace hilbench
