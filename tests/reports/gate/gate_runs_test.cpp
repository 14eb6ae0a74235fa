#include "reports/gate/gate_runs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "kernels/case/variant_filter.hpp"
#include "reports/view/judge.hpp"

namespace hilbench {
namespace {

struct Scene {
  double noise = 0.005;  // standard deviation between processes
  std::int64_t processes = 5;
  double hilbert = 1, linear = 1;  // factors of their times
  int cases = 4;
  double twin = 0;  // factor of the time of the reference's twin; 0: there is none
  double busy = 0;  // cores that others use
  std::string cpu = "one";
};

Record record_of(int number, const std::string& variant, double ns, const Scene& scene,
                 std::mt19937& engine) {
  Record record;
  record.sweep = "gate";
  record.work.kv_heads = 8;
  record.case_id = "case" + std::to_string(number);
  record.variant_id = variant;
  record.reference = "dilated/linear";
  record.verify = Verification{.before = {.rows = 1}};
  record.kind = variant == "gemm" ? ImplementationKind::baseline : ImplementationKind::kernel;
  std::normal_distribution<double> noise(0, scene.noise);
  record.time.emplace();
  for (std::int64_t process = 0; process < scene.processes; ++process) {
    const double median_ns = ns * std::exp(noise(engine));
    for (const double factor : {0.99, 1.0, 1.01}) record.time->samples_ns.push_back(median_ns * factor);
    record.time->process_rounds.push_back(3);
  }
  record.environment = {{"host", {{"cpu", scene.cpu}, {"cores", 2}}},
                        {"processes", {{{"other_busy_cores", scene.busy}}}}};
  return record;
}

ReportInput run_of(unsigned seed, const Scene& scene = {}) {
  std::mt19937 engine(seed);
  ReportInput input;
  for (int number = 0; number < scene.cases; ++number) {
    input.records.push_back(record_of(number, "dilated/linear", 1e6 * scene.linear, scene, engine));
    input.records.push_back(
        record_of(number, "dilated/hilbert", 1.1e6 * scene.hilbert * scene.linear, scene, engine));
    input.records.push_back(record_of(number, "gemm", 2e6, scene, engine));
    if (scene.twin == 0) continue;
    input.records.push_back(record_of(number, "dilated/linear@twin", 1e6 * scene.twin, scene, engine));
    input.records.back().twin = true;
  }
  judge(input.records);
  return input;
}

GateResult gate_of(const ReportInput& a, const ReportInput& b,
                   const StoredGateOptions& options = {.threshold = 0.05}) {
  return gate_runs(std::span(&a, 1), b, compare_runs(a, b), options);
}

TEST(GateRuns, EqualRunsAreOkAndASlowdownIsFound) {
  const ReportInput a = run_of(1), b = run_of(2), slow = run_of(3, {.hilbert = 1.15});
  EXPECT_EQ(exit_code(gate_of(a, b)), ExitCode::done) << gate_text(gate_of(a, b));
  const GateResult found = gate_of(a, slow);
  EXPECT_EQ(exit_code(found), ExitCode::failed) << gate_text(found);
  EXPECT_EQ(worst_first(found).front().variant_id, "dilated/hilbert");
  EXPECT_NEAR(std::exp(worst_first(found).front().slowdown.value), 1.15, 0.02);
  EXPECT_EQ(exit_code(gate_of(slow, a)), ExitCode::done) << "faster is no regression";
}

TEST(GateRuns, TheTwinMeasuresTheReferenceOnceMore) {
  const ReportInput a = run_of(1, {.noise = 0.001, .twin = 1});
  // The reference seems 4 % slower and its twin as much faster: the variants themselves have not changed.
  ReportInput b = run_of(2, {.noise = 0.001, .linear = 1.04, .twin = 1 / 1.04});
  for (Record& record : b.records)
    if (record.variant_id == "dilated/hilbert")
      for (double& sample : record.time->samples_ns) sample /= 1.04;
  const GateResult result = gate_of(a, b);
  EXPECT_EQ(exit_code(result), ExitCode::done) << gate_text(result);
  for (const GateRow& row : result.rows) {
    if (row.judged) {
      EXPECT_NEAR(row.slowdown.value, 0, 0.005) << row.case_id;
    }
  }
  std::erase_if(b.records, [](const Record& record) { return record.twin; });
  for (const GateRow& row : gate_of(a, b).rows) {
    if (row.judged) {
      EXPECT_NEAR(row.slowdown.value, -std::log(1.04), 0.005) << row.case_id;
    }
  }
}

// Each variant is divided by the mean of the reference and its twin: what moves this mean moves them all.
TEST(GateRuns, ATwinThatMovedIsAReferenceThatMoved) {
  const ReportInput a = run_of(1, {.noise = 0.001, .twin = 1});
  for (const double factor : {0.85, 1.18}) {
    const GateResult result = gate_of(a, run_of(2, {.noise = 0.001, .twin = factor}));
    EXPECT_EQ(exit_code(result), ExitCode::inconclusive) << gate_text(result);
    EXPECT_NE(gate_text(result).find("the reference itself changed"), std::string::npos);
  }
  const GateResult slow = gate_of(a, run_of(2, {.noise = 0.001, .hilbert = 1.1, .twin = 1.04}));
  EXPECT_EQ(exit_code(slow), ExitCode::failed) << gate_text(slow);
}

TEST(GateRuns, ATwinOfOneRunAloneDoesNotCount) {
  const ReportInput a = run_of(1, {.noise = 0.001, .twin = 1.2}), b = run_of(2, {.noise = 0.001});
  EXPECT_EQ(exit_code(gate_of(a, b)), ExitCode::done) << gate_text(gate_of(a, b));
  EXPECT_EQ(exit_code(gate_of(b, a)), ExitCode::done) << gate_text(gate_of(b, a));
  ReportInput failed = run_of(3, {.noise = 0.001, .twin = 1.2});
  for (Record& record : failed.records)
    if (record.twin) record.status = Status::failed;
  EXPECT_EQ(exit_code(gate_of(failed, a)), ExitCode::done) << gate_text(gate_of(failed, a));
}

TEST(GateRuns, OneProcessShowsNothing) {
  const GateResult result = gate_of(run_of(1, {.processes = 1}), run_of(2, {.processes = 1}));
  EXPECT_EQ(exit_code(result), ExitCode::inconclusive);
  EXPECT_NE(gate_text(result).find("needs several processes"), std::string::npos);
}

TEST(GateRuns, AReferenceThatMovedIsSaidAndNotJudged) {
  const GateResult result = gate_of(run_of(1), run_of(2, {.linear = 1.2}));
  EXPECT_EQ(exit_code(result), ExitCode::inconclusive);
  EXPECT_NE(gate_text(result).find("the reference itself changed: dilated/linear of case0 (+"),
            std::string::npos)
      << gate_text(result);
}

TEST(GateRuns, ManyMovedReferencesAreCounted) {
  const GateResult result = gate_of(run_of(1, {.cases = 400}), run_of(2, {.linear = 1.2, .cases = 400}));
  EXPECT_NE(gate_text(result).find(" and 395 more; the machine or the program changed"), std::string::npos)
      << result.disturbances.front();
  EXPECT_LT(gate_markdown(result).size(), 64u * 1024);
}

TEST(GateRuns, RivalsAreShownAndJudgedOnlyOnRequest) {
  const auto rivals = [](const GateResult& result) {
    return std::count_if(result.rows.begin(), result.rows.end(),
                         [](const GateRow& row) { return row.variant_id == "gemm" && row.judged; });
  };
  EXPECT_EQ(rivals(gate_of(run_of(1), run_of(2))), 0);
  EXPECT_EQ(rivals(gate_of(run_of(1), run_of(2), {.threshold = 0.05, .rivals = Rivals::judged})), 4);
}

TEST(GateRuns, UnlikeOrBusyMachinesAndMissingCasesAreOpen) {
  const ReportInput a = run_of(1), other = run_of(2, {.cpu = "two"});
  EXPECT_EQ(exit_code(gate_of(a, other)), ExitCode::inconclusive);
  EXPECT_TRUE(gate_of(a, other).unlike);
  EXPECT_NE(gate_text(gate_of(a, other)).find("host.cpu differs: one / two"), std::string::npos);
  EXPECT_EQ(exit_code(gate_of(a, other, {.threshold = 0.05, .unlike = Unlike::allowed})), ExitCode::done);
  const GateResult busy = gate_of(a, run_of(2, {.hilbert = 1.3, .busy = 1}));
  EXPECT_EQ(exit_code(busy), ExitCode::inconclusive) << "no alarm on a busy machine";
  EXPECT_NE(gate_text(busy).find("kept 1.0 of 2 cores busy during"), std::string::npos) << gate_text(busy);
  const GateResult fewer = gate_of(a, run_of(2, {.cases = 3}));
  EXPECT_EQ(exit_code(fewer), ExitCode::inconclusive);
  EXPECT_NE(gate_text(fewer).find("has no time for 3 variants"), std::string::npos) << gate_text(fewer);
}

TEST(GateRuns, MissingCasesAreTheReasonAndNamed) {
  const GateResult fewer = gate_of(run_of(1, {.cases = 9}), run_of(2, {.cases = 2}));
  EXPECT_EQ(headline(fewer).find("undecided, because not all could be compared: of "), 0u) << headline(fewer);
  EXPECT_NE(
      gate_text(fewer).find("21 variants that the baseline has: case2, case3, case4, case5, case6 and 2 "
                            "more cases\n"),
      std::string::npos)
      << gate_text(fewer);
  EXPECT_EQ(exit_code(fewer), ExitCode::inconclusive);
  const GateResult slow = gate_of(run_of(1), run_of(2, {.hilbert = 1.3, .cases = 3}));
  EXPECT_EQ(exit_code(slow), ExitCode::failed) << "a missing case does not hide an alarm";
}

TEST(GateRuns, WhatTheSweepDoesNotAskForIsLeftOut) {
  const GateResult asked =
      gate_of(run_of(1), run_of(2, {.cases = 3}), {.threshold = 0.05, .cases = {"case0", "case1", "case2"}});
  EXPECT_EQ(exit_code(asked), ExitCode::done) << gate_text(asked);
  EXPECT_EQ(asked.rows.size(), 9u);
  EXPECT_EQ(gate_of(run_of(1), run_of(2), {.threshold = 0.05, .cases = {"case1"}}).rows.size(), 3u);
}

TEST(GateRuns, CasesOfTheCandidateAloneAreNoted) {
  const GateResult more = gate_of(run_of(1, {.cases = 3}), run_of(2));
  EXPECT_EQ(exit_code(more), ExitCode::done) << gate_text(more);
  EXPECT_NE(gate_text(more).find("only the candidate has 3 variants, not judged: case3\n"), std::string::npos)
      << gate_text(more);
}

TEST(GateRuns, TheReferenceIsCalledSo) {
  const std::string text = gate_text(gate_of(run_of(1), run_of(2)));
  EXPECT_NE(text.find("reference, not judged case0 dilated/linear"), std::string::npos) << text;
  EXPECT_NE(text.find("rival, not judged case0 gemm"), std::string::npos) << text;
}

TEST(GateRuns, TheHeadlineSaysWhyItIsOpen) {
  EXPECT_EQ(
      headline(gate_of(run_of(1), run_of(2, {.cpu = "two"}))).find("undecided, because machines, builds"),
      0u);
  EXPECT_EQ(headline(gate_of(run_of(1), run_of(2, {.linear = 1.2}))).find("undecided, because the reference"),
            0u);
  EXPECT_EQ(headline(gate_of(run_of(1), run_of(2, {.busy = 1}))).find("undecided, because the machine was"),
            0u);
}

TEST(GateRuns, AVariantThatFailsNowIsBroken) {
  const ReportInput a = run_of(1);
  ReportInput b = run_of(2);
  b.records[1].status = Status::failed;
  b.records[1].reason = "wrong output";
  const GateResult result = gate_of(a, b);
  EXPECT_EQ(exit_code(result), ExitCode::failed);
  EXPECT_NE(gate_text(result).find("failed: wrong output"), std::string::npos);
  EXPECT_EQ(exit_code(gate_of(b, a)), ExitCode::done) << "mended is no regression";
}

TEST(GateRuns, SeveralBaselinesTellHowRunsDiffer) {
  std::vector<ReportInput> baselines;
  for (unsigned run = 0; run < 4; ++run) baselines.push_back(run_of(10 + run, {.hilbert = 1 + 0.03 * run}));
  const ReportInput candidate = run_of(20, {.hilbert = 1.09});
  const auto row_of = [](const GateResult& result) { return result.rows.at(1); };
  const GateResult one = gate_of(baselines.front(), candidate);
  const GateResult all =
      gate_runs(baselines, candidate, compare_runs(baselines.front(), candidate), {.threshold = 0.05});
  EXPECT_GT(row_of(all).slowdown.error, 2 * row_of(one).slowdown.error);
  EXPECT_EQ(row_of(all).verdict, GateVerdict::undecided);
}

TEST(GateRuns, EqualRunsRaiseNoAlarmHoweverRunsDiffer) {
  // Runs differ more than their processes do. At 1 % a run, 200 gates raise 7 alarms with a probability
  // below 1e-2 if the error is right; with the error of the baselines' mean alone it is about 40.
  std::mt19937 engine(7);
  std::normal_distribution<double> between(0, 0.03);
  const auto run = [&](unsigned seed) {
    return run_of(seed, {.hilbert = std::exp(between(engine)), .cases = 1});
  };
  int alarms = 0;
  for (unsigned gate = 0; gate < 200; ++gate) {
    std::vector<ReportInput> baselines;
    for (unsigned each = 0; each < 10; ++each) baselines.push_back(run(1000 * gate + each));
    const ReportInput candidate = run(1000 * gate + 10);
    alarms +=
        gate_runs(baselines, candidate, compare_runs(baselines.front(), candidate), {.threshold = 0.001})
            .rows.at(1)
            .verdict == GateVerdict::slower;
  }
  EXPECT_LE(alarms, 6);
}

TEST(GateRuns, AReferenceThatOneRunLacksLeavesItOpen) {
  const ReportInput whole = run_of(1);
  for (const Status status : {Status::skipped, Status::invalid, Status::failed}) {
    ReportInput lacks = run_of(2, {.hilbert = 2});
    for (Record& record : lacks.records)
      if (record.variant_id == "dilated/linear") record.status = status;
    judge(lacks.records);
    for (const bool in_candidate : {true, false}) {
      const GateResult result = in_candidate ? gate_of(whole, lacks) : gate_of(lacks, whole);
      EXPECT_NE(gate_text(result).find("the reference lacks times in one of the runs"), std::string::npos)
          << gate_text(result);
      for (const GateRow& row : result.rows)
        if (row.judged && !row.broken) {
          EXPECT_EQ(row.verdict, GateVerdict::undecided);
        }
    }
    EXPECT_EQ(exit_code(gate_of(lacks, whole)), ExitCode::inconclusive);
    EXPECT_EQ(exit_code(gate_of(lacks, lacks)), ExitCode::done) << "times alone are compared";
  }
}

TEST(GateRuns, AnyBaselineOfAnotherMachineIsSeen) {
  const std::vector<ReportInput> baselines = {run_of(1), run_of(2, {.cpu = "two"})};
  const ReportInput candidate = run_of(3);
  const GateResult result =
      gate_runs(baselines, candidate, compare_runs(baselines.front(), candidate), {.threshold = 0.05});
  EXPECT_TRUE(result.unlike);
  EXPECT_NE(gate_text(result).find("host.cpu differs: two / one"), std::string::npos) << gate_text(result);
}

TEST(GateRuns, AnotherProcessOnTheGpuDisturbs) {
  ReportInput used = run_of(1);
  for (std::size_t i = 0; i + 3 < used.records.size(); ++i)
    (*used.records[i].environment)["device_state"] = {{"foreign_processes", 1}};
  const GateResult result = gate_of(used, run_of(2));
  EXPECT_EQ(exit_code(result), ExitCode::inconclusive);
  EXPECT_NE(gate_text(result).find("another process used the GPU during"), std::string::npos)
      << gate_text(result);
  EXPECT_NE(gate_text(result).find("the baseline has no time for 9 variants that the candidate has"),
            std::string::npos)
      << gate_text(result);
}

TEST(GateRuns, OptionsOfWhatIsNotJudgedMayDiffer) {
  ReportInput a = run_of(1), b = run_of(2);
  for (Record& record : b.records)
    if (record.variant_id == "gemm") record.threads = 9;
  EXPECT_EQ(exit_code(gate_of(a, b)), ExitCode::done) << gate_text(gate_of(a, b));
  b.records[1].threads = 9;
  EXPECT_EQ(exit_code(gate_of(a, b)), ExitCode::inconclusive);
  EXPECT_EQ(exit_code(gate_of(a, b, {.threshold = 0.05, .filter = VariantFilter("case2")})), ExitCode::done);
}

TEST(GateRuns, SteadyAndPlainRunsAreUnlike) {
  ReportInput a = run_of(1), b = run_of(2);
  for (Record& record : b.records) record.steady_s = 2;
  EXPECT_EQ(exit_code(gate_of(a, b)), ExitCode::inconclusive);
  EXPECT_NE(gate_text(gate_of(a, b)).find("steady no / 2 s"), std::string::npos) << gate_text(gate_of(a, b));
  for (Record& record : a.records) record.steady_s = 2;
  EXPECT_EQ(exit_code(gate_of(a, b)), ExitCode::done);
}

TEST(GateRuns, AFilterKeepsWhatItMatches) {
  const GateResult result =
      gate_of(run_of(1), run_of(2), {.threshold = 0.05, .filter = VariantFilter("case2")});
  EXPECT_EQ(result.rows.size(), 3u);
}

}  // namespace
}  // namespace hilbench
