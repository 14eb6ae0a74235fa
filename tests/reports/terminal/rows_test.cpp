#include "reports/terminal/rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "reports/view/bent_rounds.hpp"
#include "reports/view/judge.hpp"
#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

std::vector<Record> one_comparison() {
  std::vector<Record> records;
  sample::add_comparison(records, sample::work(8192, {{2048, 1}}), 1);
  records.push_back(sample::without_time(records[0].work, "morton", Status::skipped, "needs more memory"));
  records.push_back(sample::without_time(records[0].work, "gray", Status::failed,
                                         "time: killed by signal 11 while it ran"));
  for (Record& record : records) record.reference = "dilated/linear";
  judge(records);
  return records;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string line_with(const std::string& text, const std::string& part) {
  for (const std::string& line : lines_of(text))
    if (line.find(part) != std::string::npos) return line;
  return "(no line with " + part + ")";
}

std::size_t widest(const std::string& text) {
  std::size_t width = 0;
  for (const std::string& line : lines_of(text)) width = std::max(width, display_width(line));
  return width;
}

TEST(Rows, ShowTimeRatioVerdictAndRate) {
  const std::vector<Record> records = one_comparison();
  const std::string text = rows_text(rows_of(records), RowOrder::by_case, {});
  EXPECT_NE(line_with(text, "n8192-w2048"), "");
  const std::string head = line_with(text, "variant ");
  for (const char* title : {"time [95 %]", "ratio [95 %]", "verdict", "GFLOP/s"})
    EXPECT_NE(head.find(title), std::string::npos) << head;
  const std::string hilbert = line_with(text, "  dilated/hilbert ");
  EXPECT_NE(hilbert.find("1.040 [1.030, 1.051]"), std::string::npos) << hilbert;
  EXPECT_NE(hilbert.find(" faster "), std::string::npos) << hilbert;
  EXPECT_NE(hilbert.find(" ms ["), std::string::npos) << hilbert;
  EXPECT_NE(line_with(text, "dilated/linear").find(" reference "), std::string::npos) << text;
  EXPECT_NE(line_with(text, "dilated/random").find(" slower "), std::string::npos) << text;
  EXPECT_NE(line_with(text, "@tokens").find(" different function "), std::string::npos) << text;
  EXPECT_EQ(line_with(text, "morton"), "  dilated/morton          skipped: needs more memory");
  EXPECT_NE(line_with(text, "gray").find("failed: time: killed by signal 11 while it ran"),
            std::string::npos);
  EXPECT_EQ(text.find("\033"), std::string::npos);
  EXPECT_EQ(text.find(" \n"), std::string::npos) << "no space at the end of a line";
}

TEST(Rows, LeaveTwinsOut) {
  std::vector<Record> records = one_comparison();
  records.push_back(records[0]);
  records.back().twin = true;
  records.back().variant_id += kTwinSuffix;
  EXPECT_EQ(rows_text(rows_of(records), RowOrder::by_case, {}).find("@twin"), std::string::npos);
}

TEST(Rows, FitTheScreen) {
  std::vector<Record> records = one_comparison();
  Record longer = records[1];
  longer.variant_id = "dilated/hilbert.4096@tokens/sawtooth_tile/ring_packed";
  records.push_back(longer);
  for (const std::size_t width : {72, 80, 100, 140, 200}) {
    const std::string text = rows_text(rows_of(records), RowOrder::by_case, {.width = width});
    EXPECT_LE(widest(text), width) << text;
    EXPECT_NE(text.find(longer.variant_id), std::string::npos) << "names are never cut";
    EXPECT_NE(text.find(" faster"), std::string::npos) << text;
  }
  const auto at = [&](std::size_t width) {
    return rows_text(rows_of(records), RowOrder::by_case, {.width = width});
  };
  EXPECT_NE(at(160).find("time [95 %]"), std::string::npos);
  EXPECT_EQ(at(80).find("time [95 %]"), std::string::npos);
  EXPECT_NE(at(80).find("GFLOP/s"), std::string::npos);
  EXPECT_EQ(at(72).find("GFLOP/s"), std::string::npos);
}

TEST(Rows, OfWindowsShowHowManyPairsAreComputed) {
  std::vector<Record> records = one_comparison();
  EXPECT_EQ(rows_text(rows_of(records), RowOrder::by_case, {}).find("pairs"), std::string::npos);
  records[1].pairs = Pairs{.needed = 2e6, .computed = 5e6, .density = 0.1};
  for (const std::size_t width : {0, 80, 100}) {
    const std::string text = rows_text(rows_of(records), RowOrder::by_case, {.width = width});
    EXPECT_NE(line_with(text, "variant ").find("pairs"), std::string::npos) << text;
    EXPECT_NE(line_with(text, records[1].variant_id).find("2.50"), std::string::npos) << text;
    EXPECT_LE(width == 0 ? 0 : widest(text), width) << text;
  }
  EXPECT_NE(legend_text(rows_of(records), {}).find("pairs: those that tiles compute"), std::string::npos);
}

TEST(Rows, HaveColoursOnlyOnAScreenWithColours) {
  const std::vector<Record> records = one_comparison();
  const std::string text =
      rows_text(rows_of(records), RowOrder::by_case, {.width = 120, .colours = Colours::on});
  EXPECT_NE(text.find("\033[32mfaster\033[0m"), std::string::npos) << text;
  EXPECT_NE(text.find("\033[31mslower\033[0m"), std::string::npos) << text;
}

TEST(Rows, SortAllCasesTogetherWithTheBestFirst) {
  std::vector<Record> records = one_comparison();
  sample::add_comparison(records, sample::work(16384, {{4096, 1}}), 4);
  for (Record& record : records) record.reference = "dilated/linear";
  judge(records);
  const std::string text = rows_text(rows_of(records), RowOrder::ratio, {});
  const std::vector<std::string> lines = lines_of(text);
  EXPECT_EQ(lines[1].substr(0, 22), "  2  dilated/hilbert  ") << "1.19 in the second case";
  EXPECT_EQ(lines[2].substr(0, 22), "  1  dilated/hilbert  ") << text;
  EXPECT_LT(text.find("dilated/linear"), text.find("dilated/random")) << "the reference has the ratio 1";
  EXPECT_NE(line_with(text, "  2: n16384-w4096-r1"), "(no line with   2: n16384-w4096-r1)") << text;
  EXPECT_GT(text.find("skipped: "), text.find("dilated/random")) << "what has no ratio comes last";
  const std::string by_time = rows_text(rows_of(records), RowOrder::time, {});
  EXPECT_NE(lines_of(by_time)[1].find("peak"), std::string::npos) << by_time;
  const std::string by_rate = rows_text(rows_of(records), RowOrder::rate, {});
  EXPECT_NE(lines_of(by_rate)[1].find("peak"), std::string::npos) << by_rate;
  EXPECT_NE(lines_of(rows_text(rows_of(records), RowOrder::verdict, {}))[1].find("faster"),
            std::string::npos);
  EXPECT_EQ(row_order_names().size(), 6u);
}

TEST(Rows, SayWhenTheBudgetLeftFewRounds) {
  std::vector<Record> records = one_comparison();
  EXPECT_EQ(bent_rounds_text(records[1]), "");
  (*records[1].environment)["processes"] = {{{"seed", 1}, {"rounds_wanted", 6}}};
  records[1].time->samples_ns.resize(2);
  records[1].time->process_rounds = {2};
  EXPECT_EQ(bent_rounds_text(records[1]), "2 of 6 rounds: the budget was spent");
  const std::string text = rows_text(rows_of(records), RowOrder::by_case, {.width = 100});
  EXPECT_NE(text.find("\n      2 of 6 rounds: the budget was spent\n"), std::string::npos) << text;
}

TEST(Rows, SayOnceThatTheBudgetLeftAllVariantsFewRounds) {
  std::vector<Record> records = one_comparison();
  sample::add_comparison(records, sample::work(16384, {{4096, 1}}), 4);
  for (Record& record : records)
    if (record.time && record.case_id == records[0].case_id) {
      (*record.environment)["processes"] = {{{"seed", 1}, {"rounds_wanted", 6}}};
      record.time->samples_ns.resize(2);
      record.time->process_rounds = {2};
    }
  const std::string said = "all variants: 2 of 6 rounds: the budget was spent\n";
  const auto times = [](const std::string& text) {
    const std::vector<std::string> lines = lines_of(text);
    return std::count_if(lines.begin(), lines.end(),
                         [](const std::string& line) { return line.find("2 of 6") != std::string::npos; });
  };
  const std::string text = rows_text(rows_of(records), RowOrder::by_case, {.width = 100});
  EXPECT_EQ(times(text), 1) << text;
  EXPECT_NE(text.find("it ran\n  " + said + "n16384"), std::string::npos) << text;
  const std::string sorted = rows_text(rows_of(records), RowOrder::time, {.width = 100});
  EXPECT_EQ(times(sorted), 1) << sorted;
  EXPECT_NE(sorted.find("  1: " + records[0].case_id + "\n  " + said), std::string::npos) << sorted;
}

TEST(Rows, TheLegendNamesReferenceEvidenceAndMargin) {
  const std::vector<Record> records = one_comparison();
  EXPECT_EQ(legend_text(rows_of(records), {}),
            "ratio: time of dilated/linear / time of the variant, above 1 is faster; within one process; "
            "margin 1 %\n");
  EXPECT_EQ(legend_text({&records[0]}, {}), "");
}

}  // namespace
}  // namespace hilbench
