#include "reports/summaries/chains.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reports/view/chain.hpp"
#include "reports/view/judge.hpp"
#include "tests/reports/sample_records.hpp"
#include "tests/reports/table_cell.hpp"

namespace hilbench {
namespace {

const Chain kChain = {
    .steps = {{"dilated/linear", ""}, {"dilated/hilbert", "a curve"}, {"dilated/random", "no curve"}},
    .end = 1,
    .claimed = {}};

// linear takes 20 ms, hilbert 10 ms, random 40 ms.
ReportInput chained(double claimed) {
  ReportInput input;
  const Case work = sample::work(8192, {{4096, 2}});
  for (const auto& [order, factor] : {std::pair("linear", 1.0), {"hilbert", 0.5}, {"random", 2.0}}) {
    Record made = sample::record(work, "dilated", order);
    made.reference = "dilated/linear";
    made.verify.emplace();
    sample::time(made, 1, factor, 0);
    input.records.push_back(made);
  }
  Chain chain = kChain;
  if (claimed > 0) chain.claimed[input.records.front().case_id] = claimed;
  input.meta["chain"] = chain_text(chain);
  judge(input.records);
  return input;
}

std::string sentence_of(const ReportInput& input) {
  const std::vector<std::string> said = chain_sentences(view_of(input));
  return said.empty() ? "" : said.front();
}

void expect_said(const std::string& said, const std::string& part) {
  EXPECT_NE(said.find(part), std::string::npos) << said << "\nlacks: " << part;
}

TEST(ChainText, IsReadAsItWasWritten) {
  Chain chain = kChain;
  chain.claimed["a case"] = 2.66;
  const Chain read = chain_from_text(chain_text(chain));
  ASSERT_EQ(read.steps.size(), 3u);
  EXPECT_EQ(read.steps[1].change, "a curve");
  EXPECT_EQ(read.end, 1u);
  EXPECT_EQ(read.claimed, chain.claimed);
}

TEST(ChainText, OfAStrangerIsNoChainIfItIsNone) {
  for (const char* text :
       {"", "[]", "{", "{\"steps\": 7}", "{\"steps\": [], \"end\": 0, \"claimed\": {}}",
        R"({"steps": [{"variant": "a", "change": ""}], "end": 4, "claimed": {}})",
        R"({"steps": [{"variant": "a"}, {"variant": "b"}], "end": 1, "claimed": {}})",
        R"({"steps": [{"variant": "a", "change": ""}, {"variant": "b", "change": ""}], "end": -1,
                               "claimed": {}})"})
    EXPECT_TRUE(chain_from_text(text).steps.empty()) << text;
}

TEST(Chains, SayWhatWasReportedAndWhatIsLeft) {
  const std::string said = sentence_of(chained(7));
  EXPECT_EQ(said.find("7.00 was reported for n "), 0u) << said;
  expect_said(said, ": time of dilated/linear / time of dilated/hilbert. The same programs give 2.000 [");
  expect_said(said, "] here = 2.00 (a curve).");
  expect_said(said, "7.00 / 2.00 = 3.50 is not explained.");
}

TEST(Chains, SayThatAClaimWasReproduced) {
  EXPECT_NE(sentence_of(chained(2)).find("What was reported lies within the interval."), std::string::npos)
      << sentence_of(chained(2));
}

TEST(Chains, HaveFactorsThatMultiplyToTheWhole) {
  ReportInput input = chained(7);
  for (Record& record : input.records) {  // three processes, with outliers of their own
    for (std::size_t i = 0; i < record.time->samples_ns.size(); ++i)
      record.time->samples_ns[i] *= 1 + 0.1 * static_cast<double>((i * 7 + record.variant_id.size()) % 5);
    const auto all = static_cast<std::int64_t>(record.time->samples_ns.size());
    record.time->process_rounds = {all / 3, all / 3, all - 2 * (all / 3)};
  }
  judge(input.records);
  const std::vector<MeasuredChain> chains = measured_chains(view_of(input));
  ASSERT_EQ(chains.size(), 1u);
  double product = 1;
  for (const MeasuredStep& step : chains.front().steps) {
    if (!step.factor) continue;
    product *= step.factor->ratio;
    EXPECT_NEAR(product, step.so_far->ratio, 1e-9);
  }
}

TEST(Chains, SayNothingOfAClaimWithoutOne) {
  const std::string said = sentence_of(chained(0));
  expect_said(said, "time of dilated/linear / time of dilated/hilbert. The same programs give 2.000 [");
  EXPECT_EQ(said.find("reported"), std::string::npos) << said;
  EXPECT_EQ(said.find("explained"), std::string::npos) << said;
}

TEST(Chains, SayThatAnEndWasNotMeasured) {
  ReportInput input = chained(7);
  std::erase_if(input.records, [](const Record& record) { return record.variant_id == "dilated/hilbert"; });
  expect_said(sentence_of(input),
              "time of dilated/linear / time of dilated/hilbert. It was not measured here: one of the two");
  input = chained(7);
  input.records[1].time.reset();
  input.records[1].status = Status::failed;
  input.records[1].reason = "no beans";
  input.meta["chain"] = chain_text(
      {.steps = {{"dilated/linear", ""}, {"dilated/random", "no curve"}, {"dilated/hilbert", "a curve"}},
       .end = 2,
       .claimed = {}});
  expect_said(sentence_of(input), "It was not measured here: one of the two has no time.");
  const Table table = chains_table(view_of(input));
  EXPECT_EQ(cell(table, 2, "function"), "failed: no beans");
}

TEST(Chains, HaveARowForEachStepAndForWhatIsLeft) {
  ReportInput input = chained(7);
  input.records[1].verify->other_function = "its map is a snake";
  const Table table = chains_table(view_of(input));
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(cell(table, 0, "step"), "dilated/linear");
  EXPECT_EQ(cell(table, 0, "factor"), "");
  EXPECT_EQ(cell(table, 1, "factor").substr(0, 5), "2.000");
  EXPECT_EQ(cell(table, 1, "function"), "another: its map is a snake");
  EXPECT_EQ(cell(table, 2, "step"), "not explained: 7.00 / 2.00");
  EXPECT_EQ(cell(table, 2, "factor"), "3.50");
  EXPECT_EQ(cell(table, 3, "factor").substr(0, 6), "0.2500");
  EXPECT_EQ(cell(table, 3, "so_far").substr(0, 6), "0.5000");
  EXPECT_EQ(cell(table, 3, "function"), "as asked, verified");
}

TEST(Reported, HasARowForEachCase) {
  const ReportInput input = chained(7);
  const Table table = reported_table(reported_cases(view_of(input)));
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(cell(table, 0, "reported"), "7.00");
  EXPECT_EQ(cell(table, 0, "here").substr(0, 5), "2.000");
  EXPECT_EQ(cell(table, 0, "largest"), "a curve: 2.00");
  EXPECT_EQ(cell(table, 0, "own").substr(0, 5), "2.000");
}

// Trials of linear order take 6, 4 and 2 ms, of hilbert 2 ms each.
ReportInput timed_by_scripts(double claimed) {
  ReportInput input = chained(claimed);
  const Protocol as_claimed = {1, EndTurn::first, CacheState::warm},
                 other = {10, EndTurn::last, CacheState::cold},
                 untaken = {20, EndTurn::last, CacheState::cold};
  input.records[0].time->protocols = {
      {as_claimed, {6e6, 4e6, 2e6}, {2, 1}}, {other, {1e6}, {1, 0}}, {untaken, {}, {0, 0}}};
  input.records[1].time->protocols = {
      {as_claimed, {2e6, 2e6, 2e6}, {2, 1}}, {other, {2e6}, {1, 0}}, {untaken, {}, {0, 0}}};
  return input;
}

TEST(Protocols, AreToldBesideThePairedRounds) {
  const std::string said = sentence_of(timed_by_scripts(7));
  expect_said(said, "The same programs give 2.000 [");
  expect_said(said,
              " A script that times it as it was reported (1 run, end first, warm) gives 1.00 to 3.00 in 3 "
              "trials. Over 2 ways of timing, single ratios are 0.500 to 3.00.");
  expect_said(said, "7.00 / 2.00 = 3.50 is not explained.");
  EXPECT_EQ(said.find("One timed execution"), std::string::npos) << said;
}

TEST(Protocols, HaveARowEachAndOneOfThePairedRounds) {
  const Table table = protocols_table(view_of(timed_by_scripts(7)));
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(cell(table, 0, "how"), "1 run, end first, warm, as it was reported");
  EXPECT_EQ(cell(table, 0, "ratios"), "1.00 to 3.00");
  EXPECT_EQ(cell(table, 0, "median"), "2.00");
  EXPECT_EQ(cell(table, 0, "trials"), "3");
  EXPECT_EQ(cell(table, 0, "above"), "2");
  EXPECT_EQ(cell(table, 1, "how"), "10 runs, end last, cold");
  EXPECT_EQ(cell(table, 1, "above"), "0");
  EXPECT_EQ(cell(table, 2, "how"), "paired rounds");
  EXPECT_EQ(cell(table, 2, "ratios").substr(0, 5), "2.000");
  EXPECT_EQ(cell(table, 2, "trials"), "");
  const Table chains = chains_table(view_of(timed_by_scripts(7)));
  EXPECT_EQ(cell(chains, 2, "step"), "not explained: 7.00 / 2.00");
  EXPECT_EQ(cell(chains, 3, "step"), "what a script reports");
  EXPECT_EQ(cell(chains, 3, "so_far"), "1.00 to 3.00");
  EXPECT_EQ(cell(chains, 3, "factor"), "");
}

TEST(Protocols, ThatDoNotPairAreLeftOut) {
  ReportInput input = timed_by_scripts(7);
  input.records[1].time->protocols[0].process_trials = {1, 2};
  EXPECT_EQ(protocols_table(view_of(input)).rows.size(), 2u);
  input.records[1].time->protocols.clear();
  EXPECT_TRUE(protocols_table(view_of(input)).rows.empty());
  EXPECT_EQ(sentence_of(input).find("script"), std::string::npos);
}

TEST(Protocols, ChangeNoVerdict) {
  ReportInput with = timed_by_scripts(7), without = chained(7);
  judge(with.records);
  EXPECT_EQ(with.records[1].speedup->ratio, without.records[1].speedup->ratio);
  EXPECT_EQ(with.records[1].speedup->verdict, without.records[1].speedup->verdict);
}

// Linear order reads 32 lines, hilbert 16, random 64; hilbert was not run.
ReportInput counted(const std::vector<std::string>& of) {
  ReportInput input = chained(2);
  for (const auto& [place, lines] : {std::pair(0, 32.0), {1, 16.0}, {2, 64.0}})
    input.records[static_cast<std::size_t>(place)].counters["layout_lines_64_per_tile"] = {
        .value = lines, .unit = "lines", .source = "layout"};
  input.records[1].status = Status::invalid;
  input.records[1].reason = "no bijection";
  input.records[1].time.reset();
  Chain chain = chain_from_text(input.meta["chain"]);
  chain.of = of;
  input.meta["chain"] = chain_text(chain);
  return input;
}

TEST(ChainsOfCounts, AreExactAndNeedNoTime) {
  const ReportInput input = counted({"layout_lines_64_per_tile"});
  const std::string said = sentence_of(input);
  EXPECT_EQ(said.find("2.00 was reported for n "), 0u) << said;
  expect_said(said,
              ": lines of a tile, dilated/linear / dilated/hilbert. It is 2.000 here = "
              "2.00 (a curve). With dilated/random it is 0.5000. What was reported is what is counted here.");
  const Table table = chains_table(view_of(input));
  EXPECT_EQ(cell(table, 0, "amount"), "32.00");
  EXPECT_EQ(cell(table, 1, "amount"), "16.00");
  EXPECT_EQ(cell(table, 1, "factor"), "2.000");
  EXPECT_EQ(cell(table, 1, "function"), "invalid: no bijection");
  EXPECT_EQ(cell(table, 2, "factor"), "0.2500") << "no row says what is not explained: nothing is";
  EXPECT_EQ(cell(table, 2, "so_far"), "0.5000");
  EXPECT_TRUE(reported_cases(view_of(input)).empty()) << "those are of times";
}

TEST(ChainsOfCounts, HaveAChainForEachQuantityAndTheClaimIsAboutTheFirst) {
  const ReportInput input = counted({"layout_lines_64_per_tile", "time", "llc_read_misses"});
  const std::vector<MeasuredChain> chains = measured_chains(view_of(input));
  ASSERT_EQ(chains.size(), 2u) << "nothing counted misses";
  EXPECT_EQ(chains[0].claimed, 2);
  EXPECT_EQ(chains[1].of, "time");
  EXPECT_FALSE(chains[1].claimed);
  EXPECT_FALSE(chains[1].whole()) << "the end has no time";
  EXPECT_TRUE(chains[1].steps[2].so_far);
  EXPECT_EQ(chains_table(view_of(input)).groups.size(), 2u);
}

TEST(ChainsOfCounts, HaveIntervalsIfCountedSeveralTimes) {
  ReportInput input = counted({"llc_read_misses"});
  for (std::size_t i = 0; i < 3; ++i)
    input.records[i].counters["llc_read_misses"] = {
        .value = 100.0 * static_cast<double>(i + 1),
        .unit = "",
        .source = "perf",
        .counts = {90.0 * static_cast<double>(i + 1), 110.0 * static_cast<double>(i + 1)}};
  const std::vector<MeasuredChain> chains = measured_chains(view_of(input));
  ASSERT_EQ(chains.size(), 1u);
  const Measured& whole = chains[0].whole().value();
  EXPECT_NEAR(whole.ratio, 0.5, 1e-9);
  EXPECT_LT(whole.ci.low, 0.5);
  EXPECT_GT(whole.ci.high, 0.5);
}

TEST(ChainsOfMemory, TakeWhatAProgramSaysAndWhatIsPlannedOfAKernel) {
  ReportInput input = chained(0);
  for (Record& record : input.records) record.memory_bytes = 1 << 20;
  input.records[1].kind = ImplementationKind::baseline;
  (*input.records[1].environment)["library"] = {{"peak_bytes", 1 << 22}};
  Chain chain = chain_from_text(input.meta["chain"]);
  chain.of = {kOfMemory};
  input.meta["chain"] = chain_text(chain);
  expect_said(sentence_of(input), "memory, dilated/linear / dilated/hilbert. It is 0.2500 here");
  EXPECT_EQ(cell(chains_table(view_of(input)), 1, "amount"), "4.000 MiB");
  (*input.records[1].environment)["library"] = nullptr;
  expect_said(sentence_of(input), "It was not counted here: one of the two has no such amount.");
}

TEST(OtherFunctions, HaveNoVerdict) {
  ReportInput input = chained(0);
  input.records[1].verify->other_function = "its map is a snake";
  judge(input.records);
  EXPECT_EQ(input.records[1].speedup->verdict, Verdict::different_function);
  EXPECT_NE(input.records[2].speedup->verdict, Verdict::different_function);
  input.records[0].verify->other_function = "it projects its input";
  judge(input.records);
  EXPECT_EQ(input.records[2].speedup->verdict, Verdict::different_function) << "against another function";
}

}  // namespace
}  // namespace hilbench
