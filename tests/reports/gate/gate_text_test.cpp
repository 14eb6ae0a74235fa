#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reports/gate/gate.hpp"

namespace hilbench {
namespace {

GateRow row(std::string variant, GateVerdict verdict, double slowdown) {
  GateRow made;
  made.case_id = "n1<2";
  made.variant_id = std::move(variant);
  made.verdict = verdict;
  made.slowdown = {std::log1p(slowdown), 0.001, 5};
  made.seen = 0.01;
  made.processes = 6;
  return made;
}

GateResult result_with(std::vector<GateRow> rows) {
  GateResult result{.sweep = "s", .baseline = "old", .candidate = "new", .rule = gate_rule(0.025, 2)};
  result.rows = std::move(rows);
  return result;
}

TEST(GateResult, ExitCodesAndHeadline) {
  EXPECT_EQ(exit_code(result_with({row("a", GateVerdict::ok, 0)})), ExitCode::done);
  EXPECT_EQ(exit_code(result_with({row("a", GateVerdict::ok, 0), row("b", GateVerdict::slower, 0.1)})),
            ExitCode::failed);
  EXPECT_EQ(exit_code(result_with({row("a", GateVerdict::undecided, 0)})), ExitCode::inconclusive);
  GateResult disturbed = result_with({row("b", GateVerdict::slower, 0.1)});
  disturbed.disturbances = {"busy"};
  EXPECT_EQ(exit_code(disturbed), ExitCode::inconclusive);
  withhold_changes(disturbed);
  EXPECT_EQ(disturbed.rows[0].verdict, GateVerdict::undecided);
  GateResult faster = result_with({row("b", GateVerdict::faster, -0.1), row("c", GateVerdict::ok, 0)});
  faster.disturbances = {"busy"};
  withhold_changes(faster);
  EXPECT_EQ(faster.rows[0].verdict, GateVerdict::undecided);
  EXPECT_EQ(faster.rows[0].reason, "faster, but withheld: busy");
  EXPECT_EQ(faster.rows[1].verdict, GateVerdict::ok);
  GateResult rival = result_with({row("gemm", GateVerdict::undecided, 0.5)});
  rival.rows[0].judged = false;
  EXPECT_EQ(exit_code(rival), ExitCode::done) << "rivals are never gated";
  GateResult broken = result_with({row("a", GateVerdict::undecided, 0)});
  broken.rows[0].broken = true;
  EXPECT_EQ(exit_code(broken), ExitCode::failed);
  EXPECT_EQ(headline(broken).find("failed"), 0u);
}

TEST(GateText, TheWorstComesFirst) {
  const GateResult result =
      result_with({row("fine", GateVerdict::ok, 0), row("open", GateVerdict::undecided, 0.02),
                   row("slow", GateVerdict::slower, 0.05), row("slowest", GateVerdict::slower, 0.2)});
  std::vector<std::string> names;
  for (const GateRow& each : worst_first(result)) names.push_back(each.variant_id);
  EXPECT_EQ(names, (std::vector<std::string>{"slowest", "slow", "open", "fine"}));
  const std::string text = gate_text(result);
  EXPECT_LT(text.find("slowest"), text.find("open"));
  EXPECT_NE(text.find("+20.00 %"), std::string::npos) << text;
}

TEST(GateText, XmlAndAnnotationsAreEscaped) {
  const GateResult result =
      result_with({row("slow", GateVerdict::slower, 0.05), row("fine", GateVerdict::ok, 0)});
  const std::string xml = gate_junit(result);
  EXPECT_NE(xml.find("tests=\"2\" failures=\"1\" skipped=\"0\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("n1&lt;2"), std::string::npos);
  const std::string lines = gate_annotations(result);
  EXPECT_EQ(lines.find("::error title=hilbench gate::n1<2 slow: slower, +5.00 %25"), 0u) << lines;
  EXPECT_EQ(lines.find("fine"), std::string::npos);
}

TEST(GateText, OnePairHasNoIntervalAndNoneNoFigures) {
  GateRow one = row("one", GateVerdict::undecided, 0.05), none = row("none", GateVerdict::undecided, 0);
  one.slowdown = {std::log1p(0.05), 0, 0};
  one.seen = std::numeric_limits<double>::infinity();
  one.processes = 1;
  none.processes = 0;
  const GateResult result = result_with({one, none});
  const std::string text = gate_text(result);
  EXPECT_NE(text.find("n1<2 one     +5.00 %, 1 pair\n"), std::string::npos) << text;
  EXPECT_NE(text.find("n1<2 none\n"), std::string::npos) << text;
  EXPECT_EQ(row_sentence(one), "n1<2 one: undecided, +5.00 %");
}

TEST(GateText, ADisturbedMachineIsInTheXmlAndTheCsv) {
  GateResult result = result_with({row("slow", GateVerdict::slower, 0.05), row("fine", GateVerdict::ok, 0)});
  result.disturbances = {"others & more kept 2 of 2 cores busy", "the GPU was throttled"};
  result.missing = {"no time for n3"};
  result.notes = {"extra work"};
  withhold_changes(result);
  const std::string why = "slower, but withheld: others & more kept 2 of 2 cores busy (and 1 more reason)";
  EXPECT_EQ(result.rows[0].reason, why);
  EXPECT_NE(gate_csv(result).find(why), std::string::npos) << gate_csv(result);
  const std::string xml = gate_junit(result);
  EXPECT_NE(xml.find("failures=\"0\" skipped=\"1\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("; slower, but withheld: others &amp; more kept"), std::string::npos) << xml;
  EXPECT_NE(xml.find("  <system-out>undecided, because the machine was disturbed"), std::string::npos) << xml;
  EXPECT_NE(
      xml.find("\nothers &amp; more kept 2 of 2 cores busy\nthe GPU was throttled\nno time for n3\nextra "
               "work\n</system-out>\n</testsuite>"),
      std::string::npos)
      << xml;
}

TEST(GateText, ALongSummaryIsCutBelow64KiBWithTheWorstKept) {
  std::vector<GateRow> rows;
  for (int i = 0; i < 3000; ++i) rows.push_back(row("variant" + std::to_string(i), GateVerdict::ok, 0));
  rows.push_back(row("slow", GateVerdict::slower, 0.05));
  const std::string summary = gate_markdown(result_with(rows));
  EXPECT_LT(summary.size(), 64u * 1024);
  EXPECT_NE(summary.find("slow"), std::string::npos);
  EXPECT_NE(summary.find("more rows"), std::string::npos);
}

TEST(GateText, NamesAndNotesOfOthersAreHarmless) {
  GateResult result = result_with({row("a\x1b[2J\nb\xEF\xBF\xBF", GateVerdict::slower, 0.1)});
  result.notes = {"![x](https://example.org/x.png)\n# head"};
  EXPECT_EQ(gate_text(result).find('\x1b'), std::string::npos);
  EXPECT_NE(gate_text(result).find("n1<2 a [2J b"), std::string::npos) << gate_text(result);
  EXPECT_EQ(gate_markdown(result).find("![x]"), std::string::npos) << gate_markdown(result);
  EXPECT_EQ(gate_markdown(result).find("\n# head"), std::string::npos);
  const std::string xml = gate_junit(result);
  EXPECT_NE(xml.find("tests=\"1\""), std::string::npos) << xml;
  EXPECT_EQ(xml.find("\xEF\xBF\xBF"), std::string::npos);
}

}  // namespace
}  // namespace hilbench
