#include "reports/findings/findings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "reports/findings/sentences.hpp"
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

Record derived_record(const char* order, double changed_blocks, double read_sectors, double counted) {
  Record record = sample::record(sample::work(4096, {{4096, 1}}), "dilated", order);
  const auto set = [&](const char* name, double value) {
    record.counters[name] = {.value = value, .unit = "count", .source = "derived"};
  };
  for (const char* name : {"derived_changed_tiles", "derived_moved_tiles", "derived_shared_lines"})
    set(name, 0);
  set("derived_changed_blocks", changed_blocks);
  set("derived_read_sectors", read_sectors);
  set("derived_linear_read_sectors", 1000);
  set("derived_tma_sectors", 900);
  set("derived_load_requests", 10);
  set("tma_load_sectors", 900);
  set("l1_load_requests", counted);
  return record;
}

TEST(Blocks, SayWhichOrdersOnlyRename) {
  ReportInput input;
  input.records = {derived_record("linear", 0, 1000, 10), derived_record("hilbert", 0, 1050, 10),
                   derived_record("random", 7, 1000, 11)};
  const std::vector<std::string> said = block_sentences(view_of(input));
  ASSERT_EQ(said.size(), 2u);
  EXPECT_NE(said[0].find("Derived, not measured: 1 of 2 variants"), std::string::npos) << said[0];
  EXPECT_NE(said[0].find("+5.0 to +5.0 %"), std::string::npos) << said[0];
  EXPECT_NE(said[1].find("in 2 of 3 records"), std::string::npos) << said[1];
  for (const std::string& none : block_sentences(view_of(sample::input()))) EXPECT_EQ(none, "");
}

}  // namespace
}  // namespace hilbench
