#include "reports/tables/summary.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reports/view/judge.hpp"
#include "tests/reports/rendered.hpp"
#include "tests/reports/sample_records.hpp"
#include "tests/reports/table_cell.hpp"
#include "tests/reports/windows_records.hpp"

namespace hilbench {
namespace {

// A windowed case, and dense attention in the same orders.
ReportInput windows_and_segments() {
  ReportInput input;
  input.records = sample::windowed_records();
  const Record linear = input.records.back();
  Record hilbert = sample::ordered("hilbert", 3, 3, 1);
  hilbert.work = linear.work;
  hilbert.case_id = linear.case_id;
  hilbert.pairs.reset();
  sample::time(hilbert, 1, 60, 5);
  sample::compare_with(hilbert, linear);
  input.records.push_back(hilbert);
  return input;
}

TEST(Summary, CasesOfWindowsAreCountedApart) {
  const ReportInput input = windows_and_segments();
  const Table table = summary_table(view_of(input));
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(cell(table, 0, "variant"), "dilated/hilbert.qkv");
  EXPECT_EQ(cell(table, 0, "pattern"), "windows");
  EXPECT_EQ(cell(table, 0, "cases"), "1");
  EXPECT_NEAR(std::stod(cell(table, 0, "median")), 2, 0.02);
  EXPECT_EQ(cell(table, 3, "variant"), "dilated/hilbert.qkv");
  EXPECT_EQ(cell(table, 3, "pattern"), "segments");
  EXPECT_NEAR(std::stod(cell(table, 3, "median")), 0.5, 0.02);
  EXPECT_NE(to_markdown(table).find("| variant | pattern |"), std::string::npos);
  EXPECT_NE(to_markdown(document_without_pictures(input)).find("are summed up apart"), std::string::npos);
}

TEST(Summary, NoSpeedupIsShownOfTwoFunctions) {
  ReportInput input;
  sample::add_comparison(input.records, sample::work(8192, {{4096, 2}}), 1);
  const auto remark_of = [&](const char* variant) {
    judge(input.records);
    const Table table = summary_table(view_of(input));
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      if (cell(table, row, "variant") != variant) continue;
      EXPECT_EQ(cell(table, row, "median_speedup").empty(), !cell(table, row, "remark").empty());
      EXPECT_EQ(cell(table, row, "smallest_speedup").empty(), !cell(table, row, "remark").empty());
      EXPECT_NE(cell(table, row, "median"), "") << "programs may read it";
      return cell(table, row, "remark");
    }
    return std::string("no such variant");
  };
  EXPECT_EQ(remark_of("dilated/hilbert"), "");
  EXPECT_EQ(remark_of("dilated/hilbert@tokens"), "computes another function: no speedup");
  input.records.front().verify.emplace();
  input.records.front().verify->other_function = "it projects its input";
  EXPECT_EQ(remark_of("dilated/hilbert"), "the reference computes another function: no speedup");
}

TEST(Summary, ASweepOfOneKindNamesNone) {
  const ReportInput input = sample::input();
  EXPECT_EQ(to_markdown(summary_table(view_of(input))).find("| pattern |"), std::string::npos);
  EXPECT_EQ(to_markdown(document_without_pictures(input)).find("are summed up apart"), std::string::npos);
}

}  // namespace
}  // namespace hilbench
