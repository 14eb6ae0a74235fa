#include "reports/site/findings_of_all.hpp"

#include <gtest/gtest.h>

#include "reports/site/claim_matrix.hpp"
#include "reports/site/pages.hpp"

namespace hilbench {
namespace {

ClaimEntry speedup(double measured, double random) {
  return {.claim = "hybrid-core",
          .compares = std::string(kKernelTime),
          .verdict = ClaimVerdict::no_gain,
          .gain = true,
          .dtype = "fp32",
          .own_sweep = true,
          .measured = measured,
          .random = random,
          .against_random = Verdict::equivalent};
}

ClaimEntry misses(ClaimVerdict verdict) {
  return {.claim = "analysis-theory",
          .compares = "L2 read misses",
          .verdict = verdict,
          .gain = true,
          .dtype = "fp32",
          .own_sweep = true,
          .measured = 1};
}

MachineOverview gpu() {
  return {.name = "a", .address = "", .sweeps = {{.name = "one", .devices = {"NVIDIA A1"}}}, .findings = {}};
}

MachineOverview processor() {
  return {
      .name = "b",
      .address = "",
      .sweeps = {{.name = "one", .processors = {"Some(R) Chip(TM) 8-Core Processor @ 2.7GHz"}, .cores = 8}},
      .findings = {}};
}

const Finding& finding(const std::vector<Finding>& findings, std::string_view id) {
  const Finding* found = find_finding(findings, id);
  if (found == nullptr) throw std::out_of_range(std::string(id));
  return *found;
}

TEST(FindingsOfAll, NameAMachineInShort) {
  EXPECT_EQ(short_name(gpu()), "NVIDIA A1");
  EXPECT_EQ(short_name(processor()), "Some Chip, 8 cores");
  EXPECT_EQ(short_name({.name = "unknown", .address = "", .sweeps = {}, .findings = {}}), "unknown");
}

TEST(FindingsOfAll, CountTestsOfClaimedGainsByMachineAndDtype) {
  MachineOverview fast = gpu(), slow = processor();
  fast.sweeps[0].claims = {speedup(0.98, 0.97), speedup(1.021, 1.0)};
  fast.sweeps[0].claims[1].verdict = ClaimVerdict::reproduced;
  fast.sweeps[0].claims[1].against_random = Verdict::faster;
  ClaimEntry loss = speedup(0.5, 0.5), paper = speedup(9, 9), other = speedup(0.9, 0.9);
  loss.gain = false;
  paper.of_paper = true;
  other.dtype = "bf16", other.other_dtype = true;
  for (const ClaimEntry& each : {loss, paper, other, misses(ClaimVerdict::excluded)})
    fast.sweeps[0].claims.push_back(each);
  slow.sweeps[0].claims = {speedup(1, 1)};
  const Table table = finding(findings_of_all({fast, slow}), "claims").table;
  ASSERT_EQ(table.rows.size(), 3u);
  const auto row = [&](std::size_t at) {
    std::vector<std::string> texts;
    for (const Cell& cell : table.rows[at]) texts.push_back(cell.text);
    return texts;
  };
  using Row = std::vector<std::string>;
  EXPECT_EQ(row(0), (Row{"Some Chip, 8 cores, fp32", "1", "0", "1.000", "1.000", "0"})) << "processors first";
  EXPECT_EQ(row(1), (Row{"NVIDIA A1, fp32", "2", "1", "0.980 to 1.021", "0.970 to 1.000", "1"}));
  EXPECT_EQ(row(2), (Row{"NVIDIA A1, bf16, claimed in another dtype", "1", "0", "0.900", "0.900", "0"}));
}

TEST(FindingsOfAll, TellOfAnotherDtypeApart) {
  MachineOverview machine = gpu();
  machine.sweeps[0].claims = {speedup(0.86, 1), speedup(0.95, 1)};
  EXPECT_EQ(find_finding(findings_of_all({machine}), "other_dtypes"), nullptr);
  for (ClaimEntry& each : machine.sweeps[0].claims) each.dtype = "bf16", each.other_dtype = true;
  EXPECT_EQ(finding(findings_of_all({machine}), "other_dtypes").sentences,
            std::vector<std::string>{
                "In bf16 on the NVIDIA A1, Hilbert order is 5 to 14 % slower than linear order."});
  EXPECT_EQ(answer_sentences({machine}).front(),
            "These results test no claim that an order makes a kernel faster.");
  machine.sweeps[0].claims[0].measured = 1.2;
  EXPECT_EQ(finding(findings_of_all({machine}), "other_dtypes").sentences.front(),
            "In bf16 on the NVIDIA A1, time of linear order / time of Hilbert order is 0.950 to 1.200.");
}

TEST(FindingsOfAll, SayEveryVerdictOnMisses) {
  MachineOverview machine = gpu();
  std::vector<ClaimEntry>& claims = machine.sweeps[0].claims;
  claims = {misses(ClaimVerdict::inconclusive), misses(ClaimVerdict::excluded),
            misses(ClaimVerdict::excluded), misses(ClaimVerdict::reproduced), misses(ClaimVerdict::no_gain)};
  claims[0].few_counts = true;
  claims[3].other_dtype = true;
  claims[4].own_sweep = false;
  EXPECT_EQ(
      finding(findings_of_all({machine}), "misses").sentences,
      std::vector<std::string>{
          "Hardware counters of the A1 answer 3 claims of fewer cache misses: none is reproduced, 2 are "
          "excluded, 1 is inconclusive; in another dtype than the claim's, 1: 1 is reproduced. 1 of them is "
          "inconclusive because each variant was counted less than five times."});
}

TEST(FindingsOfAll, CountsOfVerdictsAreSentences) {
  MachineOverview machine = gpu();
  machine.sweeps[0].claims = {misses(ClaimVerdict::no_gain), misses(ClaimVerdict::no_gain),
                              misses(ClaimVerdict::reproduced), misses(ClaimVerdict::reproduced),
                              misses(ClaimVerdict::smaller_than_claimed)};
  machine.sweeps[0].claims.push_back(misses(ClaimVerdict::no_gain));
  const auto said = [&] { return finding(findings_of_all({machine}), "misses").sentences.front(); };
  EXPECT_NE(said().find(": 2 are reproduced, 3 show no gain, 1 is smaller than claimed."), std::string::npos)
      << said();
  machine.sweeps[0].claims = {misses(ClaimVerdict::excluded), misses(ClaimVerdict::excluded),
                              misses(ClaimVerdict::inconclusive), misses(ClaimVerdict::no_gain)};
  EXPECT_NE(said().find(": none is reproduced, 2 are excluded, 1 is inconclusive, 1 shows no gain."),
            std::string::npos)
      << said();
}

TEST(FindingsOfAll, CountRunsThatAnswerOneClaimOnce) {
  MachineOverview machine = gpu();
  machine.sweeps.push_back(machine.sweeps.front());
  ClaimEntry agreed = speedup(1, 1), differs = speedup(1, 1), loss = speedup(0.8, 1), other = speedup(1, 1);
  agreed.about = "n1", differs.about = "n2", loss.about = "n3", other.about = "n1";
  loss.verdict = ClaimVerdict::reproduced, loss.gain = false;
  other.dtype = "bf16", other.verdict = ClaimVerdict::contradicted;
  for (SweepOverview& sweep : machine.sweeps) {
    sweep.claims = {agreed, differs, loss};
    differs.verdict = ClaimVerdict::inconclusive;
  }
  machine.sweeps[0].claims.push_back(other);
  const Table table = finding(findings_of_all({machine}), "verdicts").table;
  const auto row = [&](std::size_t at) {
    std::string text;
    for (const Cell& cell : table.rows.at(at)) text += cell.text + " ";
    return text;
  };
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(row(0), "kernel time bf16 0 0 0 0 1 0 0 0 ");
  EXPECT_EQ(row(1), "kernel time fp32 0 1 1 0 0 0 0 1 ") << "n3, n1, and n2 in which they differ";
}

TEST(FindingsOfAll, PutTheLargestReportedRatioFirst) {
  MachineOverview machine = gpu();
  machine.sweeps.push_back(machine.sweeps.front());
  machine.sweeps[0].reported = {{.work = "a", .reported = 1.1}, {.work = "b", .reported = 2.5}};
  machine.sweeps[1].reported = {{.work = "c", .reported = 7.95}};
  const Table table = finding(findings_of_all({machine}), "reported").table;
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows[0][0].text, "c");
  EXPECT_EQ(table.rows[1][0].text, "b");
  EXPECT_EQ(table.columns.back().key, "own");
  machine.sweeps[0].reported.push_back({.work = "of a chain without a claim"});
  const Table of_two = finding(findings_of_all({machine, processor()}), "reported").table;
  ASSERT_EQ(of_two.rows.size(), 3u);
  EXPECT_EQ(of_two.columns.back().key, "machine");
  EXPECT_EQ(of_two.rows[0].back().text, "NVIDIA A1");
}

TEST(FindingsOfAll, TellDtypesOfClaimsFromOthers) {
  const ClaimEntry gain{.claim = "a",
                        .compares = "kernel time",
                        .gain = true,
                        .measured = 1.01,
                        .against_random = Verdict::equivalent};
  ClaimEntry loss = gain;
  loss.gain = false;
  loss.measured = 0.98;
  ClaimEntry slow = gain, slower = gain;
  slow.dtype = slower.dtype = "bf16";
  slow.other_dtype = slower.other_dtype = true;
  slow.measured = 0.95, slower.measured = 0.87;
  MachineOverview machine{.name = "m", .address = "machines/m"};
  machine.sweeps.push_back({.name = "s", .claims = {gain, slow, loss, slower}});
  const std::vector<std::string> said = answer_sentences({machine});
  ASSERT_EQ(said.size(), 3u);
  EXPECT_EQ(said[0], "1 test is of a claim that Hilbert order makes a kernel faster: none reproduces it.");
  EXPECT_EQ(
      said[1],
      "Beside random order, the control, which all have: Hilbert order is shown to be as fast in 1, faster "
      "in 0 and slower in 0; 0 are inconclusive.");
  EXPECT_EQ(said[2],
            "In the dtype of the claim, time of linear order / time of Hilbert order is 0.980 to 1.010; in "
            "bf16, which is not that of the claim, 0.870 to 0.950.");
  EXPECT_EQ(claim_matrix_html({machine}).find("0.870"), std::string::npos) << "no test of the claim";
}

TEST(FindingsOfAll, ReportedRatiosStandFirstOnTheSite) {
  MachineOverview machine{.name = "m", .address = "machines/m"};
  machine.sweeps.push_back(
      {.name = "s",
       .reported = {{"n 8", 1.5, 0.9, "0.9", "a copy", ""}, {"n 4", 7.95, 0.6, "0.6", "a loop", ""}}});
  const PlainPage page = index_page({machine});
  ASSERT_FALSE(page.sections.empty());
  const std::string& html = page.sections.front().html;
  EXPECT_LT(html.find("<a href=\"machines/m/s/index.html\">7.95</a>"), html.find(">1.50</a>")) << html;
}

TEST(FindingsOfAll, OfNothingSayThatNothingIsTested) {
  const std::vector<Finding> findings = findings_of_all({});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings.front().id, "claims");
}

}  // namespace
}  // namespace hilbench
