#include "reports/findings/findings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "reports/page/page.hpp"
#include "tests/reports/rendered.hpp"
#include "tests/reports/windows_records.hpp"

namespace hilbench {
namespace {

ReportInput cases_and_windows() {
  ReportInput input = sample::input();
  for (const Record& record : sample::windowed_records()) input.records.push_back(record);
  return input;
}

std::vector<Finding> findings_in(const ReportInput& input) {
  static const std::vector<ClaimRow> claims = claims_of(sample::input());  // those of a report
  const View view = view_of(input);
  return findings_of(view, answer_claims(claims, view));
}

TEST(Findings, HaveIdsOfTheirOwn) {
  const ReportInput input = cases_and_windows();
  std::set<std::string> ids;
  for (const Finding& finding : findings_in(input)) EXPECT_TRUE(ids.insert(finding.id).second) << finding.id;
  for (const char* id :
       {"records", "claims", "hilbert", "variants", "effects", "ratios", "counts", "rivals", "windows"})
    EXPECT_TRUE(ids.contains(id)) << id;
  EXPECT_FALSE(ids.contains("rings")) << "nothing is to be said of them";
}

TEST(Findings, StandInTheReportWordForWord) {
  const ReportInput input = cases_and_windows();
  const Document document = document_without_pictures(input);
  const std::string markdown = to_markdown(document);
  for (const Finding& finding : findings_in(input)) {
    for (const std::string& sentence : finding.sentences)
      EXPECT_NE(markdown.find(markdown_text(sentence) + "\n"), std::string::npos)
          << finding.id << ": " << sentence;
    if (!finding.table.rows.empty() && finding.id != "twins") {
      EXPECT_NE(markdown.find(to_markdown(finding.table)), std::string::npos) << finding.id;
    }
  }
}

TEST(Findings, AreSaidOnce) {
  const ReportInput input = cases_and_windows();
  const std::string markdown = to_markdown(document_without_pictures(input));
  for (const Finding& finding : findings_in(input))
    for (const std::string& sentence : finding.sentences) {
      const std::string said = markdown_text(sentence) + "\n";
      EXPECT_EQ(markdown.find(said), markdown.rfind(said)) << finding.id << ": " << sentence;
    }
}

TEST(Findings, AreMarkdownOfTheirOwn) {
  const Finding finding{.id = "x",
                        .sentences = {"It is <fast>.", "Very."},
                        .table = {.columns = {{"a", "a"}}, .rows = {{{"1"}}}}};
  EXPECT_EQ(to_markdown(finding), "It is \\<fast\\>.\n\nVery.\n\n| a |\n|---|\n| 1 |\n");
  EXPECT_EQ(to_markdown(Finding{.id = "x", .sentences = {"Very."}, .table = {}}), "Very.\n");
}

}  // namespace
}  // namespace hilbench
