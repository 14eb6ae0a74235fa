// `chain:` of a sweep.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/sweep/claim_sweeps.hpp"
#include "harness/sweep/embedded.hpp"
#include "tests/harness/sweep/sweep_text.hpp"

namespace hilbench {
namespace {

const std::string kVariants =
    "cases: [{sequence_length: 1024}, {sequence_length: 2048}]\n"
    "variants: [{kernel: dilated, order: [linear, hilbert, random]},\n"
    "           {kernel: dilated, order: hilbert, rows: gathered, index: computed}]\n"
    "baselines: [gemm]\n";

std::string chained(const std::string& chain) {
  return kHead + kVariants + "chain: " + chain + "\n";
}

TEST(Chain, NamesItsStepsAndWhatWasClaimed) {
  const Sweep sweep =
      parse(chained("{claimed: [1.5, 0], end: dilated/hilbert,\n"
                    "  steps: [dilated/linear, {dilated/hilbert: a curve}, {gemm: products alone}]}"));
  ASSERT_EQ(sweep.chain.steps.size(), 3u);
  EXPECT_EQ(sweep.chain.steps[0].variant, "dilated/linear");
  EXPECT_EQ(sweep.chain.steps[0].change, "");
  EXPECT_EQ(sweep.chain.steps[1].change, "a curve");
  EXPECT_EQ(sweep.chain.end, 1u);
  EXPECT_EQ(sweep.cases[0].claimed, 1.5);
  EXPECT_EQ(sweep.cases[1].claimed, 0);
}

TEST(Chain, EndsWithItsLastStep) {
  const Sweep sweep =
      parse(chained("{steps: [dilated/linear, {dilated/hilbert: a curve}, {gemm: products}]}"));
  EXPECT_EQ(sweep.chain.end, 2u);
  EXPECT_EQ(sweep.cases[0].claimed, 0);
}

TEST(Chain, ClaimsNothingOfOtherCases) {
  const std::string text =
      chained("{claimed: [1.5, 2], steps: [dilated/linear, {dilated/hilbert: a curve}]}");
  EXPECT_EQ(parse(text, {.axes = {"sequence_length=4096"}}).cases[0].claimed, 0);
  EXPECT_EQ(parse(text, {.axes = {"threads=1"}}).cases[1].claimed, 2);
}

TEST(Chain, IsRefusedIfAStepChangesTwoOptions) {
  const std::string refused = refusal(
      chained("{steps: [dilated/linear, {dilated/hilbert.gathered.computed: a curve through a table}]}"));
  EXPECT_SAYS(refused, "differs from dilated/linear in");
  for (const char* option : {"order", "rows", "index"}) EXPECT_SAYS(refused, option);
  EXPECT_SAYS(refused, "a step of a chain changes one option");
}

TEST(Chain, IsRefusedIfItIsNone) {
  EXPECT_SAYS(refusal(chained("{steps: [dilated/linear]}")), "a chain of 1 steps");
  EXPECT_SAYS(refusal(chained("{claimed: 2}")), "a chain without steps");
  EXPECT_SAYS(refusal(chained("{steps: [dilated/linear, dilated/hilbert]}")),
              "a step after the first is a variant with what it changes");
  EXPECT_SAYS(refusal(chained("{steps: [dilated/linear, {dilated/hilbrt: a curve}]}")),
              "did you mean 'dilated/hilbert'?");
  EXPECT_SAYS(refusal(chained("{steps: [dilated/linear, {dilated/hilbert: ''}]}")), "no change in words");
  EXPECT_SAYS(refusal(chained("{steps: [dilated/linear, {gemm: a}, {gemm: b}]}")),
              "the step gemm comes twice");
  EXPECT_SAYS(refusal(chained("{steps: [dilated/hilbert, {dilated/linear: no curve}]}")),
              "the reference is dilated/linear");
  EXPECT_SAYS(refusal(chained("{end: dilated/linear, steps: [dilated/linear, {gemm: a}]}")),
              "unknown step after the first 'dilated/linear'");
  EXPECT_SAYS(refusal(chained("{claimed: 2, steps: [dilated/linear, {gemm: a}]}")), "1 number for 2 cases");
  EXPECT_SAYS(refusal(chained("{claimed: [-1, 2], steps: [dilated/linear, {gemm: a}]}")), "-1");
  EXPECT_SAYS(refusal(chained("{claims: 2, steps: [dilated/linear, {gemm: a}]}")), "claims");
}

std::vector<std::string> protocols_of(const std::string& protocol) {
  std::vector<std::string> texts;
  for (const Protocol& each :
       parse(chained("{protocol: " + protocol + ", steps: [dilated/linear, {dilated/hilbert: a curve}]}"))
           .measure.protocols)
    texts.push_back(protocol_text(each));
  return texts;
}

TEST(Chain, HasTheProductOfItsProtocol) {
  EXPECT_EQ(protocols_of("{runs: 1, end: first, cache: warm}"),
            std::vector<std::string>{"1 run, end first, warm"});
  EXPECT_EQ(protocols_of("{runs: [10, 1], end: [last, interleaved], cache: [warm, cold]}"),
            (std::vector<std::string>{"10 runs, end last, warm", "10 runs, end last, cold",
                                      "10 runs, interleaved, warm", "10 runs, interleaved, cold",
                                      "1 run, end last, warm", "1 run, end last, cold"}))
      << "one run cannot be interleaved";
}

TEST(Chain, KeepsItsProtocolBesideMeasure) {
  const Sweep sweep =
      parse(chained("{protocol: {runs: 1, end: first, cache: cold}, steps: [dilated/linear, {gemm: a}]}") +
            "measure: {budget_s: 7}\n");
  EXPECT_EQ(sweep.measure.budget_s, 7);
  ASSERT_EQ(sweep.measure.protocols.size(), 1u);
  EXPECT_EQ(sweep.measure.protocols.front().cache, CacheState::cold);
}

TEST(Chain, IsOfTimesUnlessItSaysOtherwise) {
  const auto of = [](const std::string& of_what) {
    return parse(chained("{" + of_what + "steps: [dilated/linear, {gemm: a}]}")).chain.of;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(of(""), Names{"time"});
  EXPECT_EQ(of("of: memory, "), Names{"memory"});
  EXPECT_EQ(of("of: [layout_lines_64_per_tile, llc_read_misses], "),
            (Names{"layout_lines_64_per_tile", "llc_read_misses"}));
  const auto refused = [](const std::string& of_what) {
    return refusal(chained("{" + of_what + "steps: [dilated/linear, {gemm: a}]}"));
  };
  EXPECT_SAYS(refused("of: layout_lines, "), "unknown quantity 'layout_lines'");
  EXPECT_SAYS(refused("of: [time, time], "), "time comes twice");
  EXPECT_SAYS(refused("of: [], "), "chain.of");
  EXPECT_SAYS(refused("of: memory, protocol: {runs: 1, end: first, cache: warm}, "),
              "a protocol without times");
}

TEST(Chain, RefusesAProtocolThatIsNone) {
  const auto refused = [](const std::string& protocol) {
    return refusal(chained("{protocol: " + protocol + ", steps: [dilated/linear, {gemm: a}]}"));
  };
  EXPECT_SAYS(refused("{runs: 1, end: first}"), "cache missing");
  EXPECT_SAYS(refused("{runs: 1, end: interleaved, cache: warm}"), "one run of each cannot be interleaved");
  EXPECT_SAYS(refused("{runs: 0, end: first, cache: warm}"), "0");
  EXPECT_SAYS(refused("{runs: [2, 2], end: first, cache: warm}"), "2 comes twice");
  EXPECT_SAYS(refused("{runs: 1, end: [first, first], cache: warm}"), "first comes twice");
  EXPECT_SAYS(refused("{runs: 1, end: second, cache: warm}"), "second");
  EXPECT_SAYS(refused("{runs: 1, end: first, cache: hot}"), "hot");
  EXPECT_SAYS(refused("{runs: 1, end: first, cache: warm, warm_ups: 3}"), "warm_ups");
  EXPECT_SAYS(refused("naive"), "protocol");
}

TEST(Chain, OfEachReportClaimsSomethingOfEachCase) {
  int chains = 0;
  for (const EmbeddedSweep& each : claim_sweeps()) {
    const Sweep sweep = parse_sweep(std::string(each.text), each.file);
    if (sweep.chain.steps.empty()) continue;
    ++chains;
    if (sweep.name == "chain-longest") continue;  // nothing was divided
    for (const SweepCase& one : sweep.cases) EXPECT_GT(one.claimed, 0) << each.file;
  }
  EXPECT_EQ(chains, 5);
}

}  // namespace
}  // namespace hilbench
