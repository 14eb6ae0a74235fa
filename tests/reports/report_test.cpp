#include "reports/report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "kernels/base/text/error.hpp"
#include "reports/claims/claims_file.hpp"
#include "tests/reports/rendered.hpp"
#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

TEST(Report, AnswersTheClaimsThatTheSweepNames) {
  ReportInput input = sample::input();
  EXPECT_EQ(claims_of(input).size(), named_claims({"seeds"}).size())
      << "the records are from before sweeps named any";
  input.meta["claims"] = "hybrid-core guide-memory";
  std::set<std::string> ids;
  for (const ClaimRow& claim : claims_of(input)) ids.insert(claim.claim_id);
  EXPECT_EQ(ids, (std::set<std::string>{"guide-memory", "hybrid-core"}));
  input.meta["claims"] = "seeds";
  EXPECT_EQ(claims_of(input).size(), named_claims({"seeds"}).size());
  input.meta["claims"] = "";
  EXPECT_TRUE(claims_of(input).empty());
}

TEST(Report, WritesEveryFile) {
  Folder folder;
  const ReportOutput output = write_report(sample::input(), folder.path() / "deep" / "er");
  EXPECT_EQ(output.folder, folder.path() / "deep" / "er");
  for (const char* file : {"report.html", "report.md", "tables/claims.csv", "tables/comparison.csv"})
    EXPECT_GT(fs::file_size(output.folder / file), 100u) << file;
  if (!can_draw()) GTEST_SKIP() << "figures cannot be drawn here: " << output.notes.at(0);
  EXPECT_TRUE(output.notes.empty()) << output.notes.at(0);
  for (const char* name : {"claims", "speedup_length", "speedup_dilation", "roofline", "times"}) {
    const std::string svg = read(output.folder / "figures" / (std::string(name) + ".svg"));
    EXPECT_NE(svg.find("<svg"), std::string::npos) << name;
    EXPECT_LT(svg.size(), 200'000u) << name;
    EXPECT_EQ(read(output.folder / "figures" / (std::string(name) + ".png")).substr(1, 3), "PNG") << name;
  }
}

TEST(Report, FiguresThatItNoLongerDrawsGo) {
  if (!can_draw()) GTEST_SKIP() << "figures cannot be drawn here";
  Folder folder;
  write_report(sample::input(), folder.path());
  ASSERT_TRUE(fs::exists(folder.path() / "figures/times.svg"));
  std::ofstream(folder.path() / "figures/mine.svg") << "mine";
  std::ofstream(folder.path() / "figures/roofline.svg") << "changed by hand";
  ReportInput empty;
  empty.source = "results/empty";
  write_report(empty, folder.path());
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(folder.path() / "figures"))
    left.insert(entry.path().filename());
  EXPECT_EQ(left, (std::set<std::string>{"mine.svg", "roofline.svg"}));
}

TEST(Report, DrawsHostileNamesAsText) {
  if (!can_draw()) GTEST_SKIP() << "figures cannot be drawn here";
  Folder folder;
  ReportInput input = sample::input();
  const std::string attack =
      "it's'; system('touch " + (folder.path() / "owned").string() + "') # \"`x`\"\n<b>";
  for (Record& record : input.records) {
    (*record.environment)["host"]["cpu"] = attack;
    if (record.variant.kernel().order == "random") record.variant_id = "dilated/" + attack;
  }
  const ReportOutput output = write_report(input, folder.path() / "out");
  EXPECT_TRUE(output.notes.empty()) << output.notes.at(0);
  EXPECT_FALSE(fs::exists(folder.path() / "owned"));
  for (const char* name : {"times", "speedup_length"}) {
    const std::string svg = read(folder.path() / "out/figures" / (std::string(name) + ".svg"));
    EXPECT_NE(svg.find("system("), std::string::npos) << name;
    EXPECT_EQ(svg.find("<b>"), std::string::npos) << name;
  }
  EXPECT_EQ(markup_of(read(folder.path() / "out/report.html")).find("<b>'"), std::string::npos);
}

TEST(Report, WorksWithoutRecordsAndWithFailuresOnly) {
  Folder folder;
  ReportInput empty;
  empty.source = "results/empty";
  write_report(empty, folder.path() / "empty");
  EXPECT_NE(read(folder.path() / "empty/report.md").find("nothing has been measured yet"), std::string::npos);
  ReportInput failures;
  for (const char* order : {"linear", "hilbert"})
    failures.records.push_back(
        sample::without_time(sample::work(8192, {{2048, 1}}), order, Status::failed, "killed by signal 9"));
  write_report(failures, folder.path() / "failures");
  const std::string text = read(folder.path() / "failures/report.md");
  EXPECT_NE(text.find("killed by signal 9"), std::string::npos);
  EXPECT_NE(text.find("dilated/linear is failed"), std::string::npos);
}

TEST(Report, FolderThatCannotBeWrittenIsAUsageError) {
  Folder folder;
  std::ofstream(folder.path() / "file") << "x";
  EXPECT_THROW(write_report(sample::input(), folder.path() / "file"), UsageError);
  ReportInput input = sample::input();
  input.claims_file = folder.path() / "file";
  EXPECT_THROW(write_report(input, folder.path() / "out"), UsageError);
  EXPECT_FALSE(fs::exists(folder.path() / "out")) << "bad input writes nothing";
}

// REPORT_SAMPLE=DIR writes the report of the sample into DIR.
TEST(Report, KeepsItsSampleWhereAsked) {
  const char* folder = std::getenv("REPORT_SAMPLE");
  if (folder == nullptr) GTEST_SKIP() << "REPORT_SAMPLE is not set";
  write_report(sample::input(), folder);
}

// How long it takes: tests/reports/page/page_test.py.
TEST(Report, TenThousandRecordsMakeSmallFiles) {
  ReportInput input;
  input.meta["sweep"] = "large";
  input.records = sample::many(10'000);
  Folder folder;
  write_report(input, folder.path());
  EXPECT_LT(fs::file_size(folder.path() / "report.html"), 10'000'000u);
  for (const auto& entry : fs::directory_iterator(folder.path() / "figures"))
    EXPECT_TRUE(entry.path().extension() != ".svg" || fs::file_size(entry.path()) < 200'000u) << entry.path();
}

}  // namespace
}  // namespace hilbench
