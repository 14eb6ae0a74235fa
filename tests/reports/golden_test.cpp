// The whole report. tests/golden/report.md is the report as Markdown, with decimals masked;
// tests/golden/tables.txt holds the header of every CSV. After an intended change, run
//   HILBENCH_UPDATE_GOLDEN=1 build/tests/reports/reports_tests --gtest_filter='Golden.*'
// and read the difference before you commit it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include "tests/reports/rendered.hpp"
#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

void expect_golden(const std::string& name, const std::string& text) {
  const fs::path file = fs::path(HILBENCH_GOLDEN) / name;
  if (std::getenv("HILBENCH_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(file, std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(text, read(file)) << "see the head of golden_test.cpp for how to update " << file;
}

TEST(Golden, MarkdownReport) {
  const std::string text = to_markdown(document_without_pictures(sample::input()));
  expect_golden("report.md", std::regex_replace(text, std::regex(R"(\d+\.\d+(e[-+]\d+)?)"), "#.#"));
}

TEST(Golden, TableHeaders) {
  const ReportInput input = sample::input();
  Folder folder;
  write_report(input, folder.path());
  std::string headers;
  std::set<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder.path() / "tables")) files.insert(entry.path());
  for (const fs::path& file : files) {
    const std::string text = read(file);
    headers += file.filename().string() + ": " + text.substr(0, text.find('\r')) + "\n";
  }
  expect_golden("tables.txt", headers);
}

}  // namespace
}  // namespace hilbench
