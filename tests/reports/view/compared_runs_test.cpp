#include "reports/view/compared_runs.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "reports/compare_document.hpp"
#include "reports/page/page.hpp"
#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

Record& find(ReportInput& input, std::string_view case_id, std::string_view variant_id) {
  for (Record& record : input.records)
    if (record.case_id == case_id && record.variant_id == variant_id) return record;
  throw std::out_of_range("no such record");
}

constexpr std::string_view kCase = "n8192-w2048-r1-h8-d64-fp32-p1-cpu";

// The sample, with the times of one case and variant multiplied.
ReportInput slowed(double factor, std::string_view variant = "dilated/hilbert") {
  ReportInput input = sample::input();
  input.source = "results/after";
  Timing& time = *find(input, kCase, variant).time;
  for (double& ns : time.samples_ns) ns *= factor;
  time.median_ns *= factor;
  time.ci_ns = {time.ci_ns.low * factor, time.ci_ns.high * factor};
  return input;
}

const RunPair& pair_of(const ComparedRuns& runs, std::string_view variant) {
  for (const RunPair& pair : runs.pairs)
    if (pair.a->case_id == kCase && pair.a->variant_id == variant) return pair;
  throw std::out_of_range("no such pair");
}

TEST(ComparedRuns, TheSameRunTwiceShowsNoDifference) {
  const ReportInput a = sample::input(), b = sample::input();
  const ComparedRuns runs = compare_runs(a, b);
  EXPECT_EQ(runs.pairs.size(), a.records.size());
  EXPECT_TRUE(runs.only_a.empty() && runs.only_b.empty() && runs.environment.empty());
  for (const RunPair& pair : runs.pairs) {
    if (!pair.a->time) {
      EXPECT_EQ(pair.withheld.find(to_string(pair.a->status)), 0u) << pair.withheld;
      continue;
    }
    ASSERT_TRUE(pair.ratio) << pair.withheld;
    EXPECT_DOUBLE_EQ(pair.ratio->ratio, 1);
    EXPECT_EQ(pair.ratio->verdict, Verdict::inconclusive) << "one process each";
  }
}

TEST(ComparedRuns, AnotherFunctionIsNoChangeOfTime) {
  const ReportInput a = sample::input();
  ReportInput b = slowed(0.5);
  find(b, kCase, "dilated/hilbert").verify->other_function = "its keys have moved";
  EXPECT_EQ(pair_of(compare_runs(a, b), "dilated/hilbert").withheld, "B computes a different function");
}

TEST(ComparedRuns, WhatEachProcessSawIsNoDifference) {
  const ReportInput a = sample::input();
  ReportInput b = sample::input();
  for (Record& record : b.records)
    (*record.environment)["processes"] = {{{"load_average", 1.5}}, {{"load_average", 1.7}}};
  EXPECT_TRUE(compare_runs(a, b).environment.empty());
}

TEST(ComparedRuns, InjectedWorkIsSaidFirst) {
  const ReportInput a = sample::input();
  ReportInput b = sample::input();
  EXPECT_EQ(to_text(compare_document(compare_runs(a, b), {})).find("injected"), std::string::npos);
  b.records[0].injected = b.records[1].injected = 0.1;
  const Document document = compare_document(compare_runs(a, b), {});
  EXPECT_EQ(document.answer.front(), "2 records of B hold injected work; they are no results.");
}

TEST(ComparedRuns, TellsWhatBecameSlower) {
  const ReportInput a = sample::input(), b = slowed(1.25);
  const ComparedRuns runs = compare_runs(a, b);
  const Measured ratio = *pair_of(runs, "dilated/hilbert").ratio;
  EXPECT_NEAR(ratio.ratio, 1 / 1.25, 1e-12);
  EXPECT_LT(ratio.ci.high, 0.9);
  EXPECT_GT(ratio.ci.low, 0.7);
  const std::string csv = to_csv(compare_table(runs));
  EXPECT_NE(csv.find(std::string(kCase) + ",dilated/hilbert,ok,ok,"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\"B is slower, within one process\""), std::string::npos) << csv;
}

TEST(ComparedRuns, NothingToCompareIsInconclusive) {
  const ReportInput a = sample::input();
  ReportInput b = sample::input();
  for (Record& record : b.records) record.case_id += "-other";
  const ComparedRuns runs = compare_runs(a, b);
  EXPECT_TRUE(runs.pairs.empty());
  EXPECT_EQ(runs.only_a.size(), a.records.size());
  EXPECT_EQ(runs.only_b.size(), b.records.size());
  const std::string text = to_text(compare_document(runs, {}));
  EXPECT_NE(text.find("== Only in A"), std::string::npos);
}

TEST(ComparedRuns, WithholdsWhatAnotherProcessDisturbed) {
  const ReportInput a = sample::input();
  ReportInput b = sample::input();
  (*find(b, kCase, "dilated/hilbert").environment)["device_state"] = {{"foreign_processes", 1}};
  const ComparedRuns runs = compare_runs(a, b);
  EXPECT_FALSE(pair_of(runs, "dilated/hilbert").ratio);
  EXPECT_EQ(pair_of(runs, "dilated/hilbert").withheld, "withheld: another process used the GPU in B");
}

TEST(ComparedRuns, NamesWhatDiffersBesideTheIds) {
  const ReportInput a = sample::input();
  ReportInput b = sample::input();
  for (Record& record : b.records) {
    (*record.environment)["build"]["commit"] = "abc1234";
    (*record.environment)["host"]["cpu"] = "Another CPU";
    (*record.environment)["time"] = "2027-01-01T00:00:00Z";
    (*record.environment)["device_state"] = {{"driver", "580.1"}, {"power_w", {1, 2}}};
    record.threads = 4;
  }
  const ComparedRuns runs = compare_runs(a, b);
  std::vector<std::string> keys;
  for (const ComparedRuns::Difference& difference : runs.environment) keys.push_back(difference.key);
  EXPECT_EQ(keys, (std::vector<std::string>{"host.cpu", "build.commit", "device_state.driver"}));
  EXPECT_EQ(runs.environment[1].a, "unknown");
  EXPECT_EQ(pair_of(runs, "dilated/hilbert").differs, "threads 2 / 4");
  const Document document = compare_document(runs, {});
  EXPECT_EQ(document.sections.front().id, "environment");
  const std::string text = to_text(document);
  EXPECT_LT(text.find("Another CPU"), text.find("dilated/hilbert"));
  EXPECT_NE(text.find("The machines differ"), std::string::npos);
}

TEST(ComparedRuns, EveryFormIsSafeAndTellsTheSame) {
  const ReportInput a = sample::input();
  ReportInput b = slowed(1.25);
  find(b, kCase, "dilated/hilbert").variant_id = sample::kHostile;
  const ComparedRuns runs = compare_runs(a, b);
  const Document document = compare_document(runs, {});
  const std::string html = to_html(document), markdown = to_markdown(document), text = to_text(document);
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_EQ(markdown.find("<script>alert"), std::string::npos);
  EXPECT_EQ(markdown.find("| claims |"), std::string::npos);
  for (const std::string& form : {html, markdown, text}) EXPECT_NE(form.find("Only in B"), std::string::npos);
  EXPECT_NE(text.find("A / B"), std::string::npos);
}

TEST(Text, AlignsTables) {
  const Table table = {
      .name = "t",
      .caption = "",
      .columns = {{"a", "name"}, {"b", "ms", Align::right}, {"c", "C", Align::left, Show::data}},
      .rows = {{{"x"}, {"1.5"}, {"no"}}, {{"longer\x1b"}, {"12.25"}, {"no"}}}};
  const Document document = {.title = "T", .machine = "M", .sections = {{"s", "S", {table}}}};
  EXPECT_EQ(to_text(document), "T\nmachine: M\n\n== S\nname        ms\nx          1.5\nlonger   12.25\n");
}

}  // namespace
}  // namespace hilbench
