// `chain:` of a sweep.
#include <gtest/gtest.h>

#include <string>

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
  EXPECT_SAYS(refusal(chained("{claimed: 2, steps: [dilated/linear, {gemm: a}]}")), "1 numbers for 2 cases");
  EXPECT_SAYS(refusal(chained("{claimed: [-1, 2], steps: [dilated/linear, {gemm: a}]}")), "-1");
  EXPECT_SAYS(refusal(chained("{claims: 2, steps: [dilated/linear, {gemm: a}]}")), "claims");
}

TEST(Chain, OfEachReportClaimsSomethingOfEachCase) {
  int chains = 0;
  for (const EmbeddedSweep& each : claim_sweeps()) {
    const Sweep sweep = parse_sweep(std::string(each.text), each.file);
    if (sweep.chain.steps.empty()) continue;
    ++chains;
    for (const SweepCase& one : sweep.cases) EXPECT_GT(one.claimed, 0) << each.file;
  }
  EXPECT_EQ(chains, 3);
}

}  // namespace
}  // namespace hilbench
