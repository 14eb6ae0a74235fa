#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "harness/sweep/sweep.hpp"
#include "kernels/base/text/error.hpp"
#include "tests/harness/sweep/sweep_text.hpp"
#include "tests/slowness.hpp"

namespace hilbench {
namespace {

Sweep sweep_of_cases(const std::string& cases, const SweepOverrides& overrides = {}) {
  return parse_sweep("name: a\nvariants: [{kernel: dilated}]\n" + cases, "a.yaml", overrides);
}

std::vector<std::string> ids_of(const Sweep& sweep) {
  std::vector<std::string> ids;
  for (const SweepCase& each : sweep.cases) ids.push_back(case_id(each.work));
  return ids;
}

TEST(Cases, AxesMultiplyWithTheLastFastest) {
  EXPECT_EQ(ids_of(sweep_of_cases("axes: {sequence_length: [4096, 8192], heads: [2, 4], device: cpu}")),
            (Ids{"n4096-w2048-r1-h2-d64-fp32-p1-cpu", "n4096-w2048-r1-h4-d64-fp32-p1-cpu",
                 "n8192-w2048-r1-h2-d64-fp32-p1-cpu", "n8192-w2048-r1-h4-d64-fp32-p1-cpu"}));
}

TEST(Cases, PatternsPairAndMultiplyWithTheRest) {
  EXPECT_EQ(ids_of(sweep_of_cases("axes:\n  segments: [[2048, 4096], [4096]]\n  heads: [2, 4]\n"
                                  "  dilations: [[1, 2], [2]]\n  device: cpu\n")),
            (Ids{"n4096-w2048.4096-r1.2-h2-d64-fp32-p1-cpu", "n4096-w2048.4096-r1.2-h4-d64-fp32-p1-cpu",
                 "n4096-w4096-r2-h2-d64-fp32-p1-cpu", "n4096-w4096-r2-h4-d64-fp32-p1-cpu"}));
}

TEST(Cases, AFlatListOrANumberIsOnePattern) {
  EXPECT_EQ(ids_of(sweep_of_cases("axes: {segments: [2048, 4096], dilations: [1, 2]}")),
            Ids{"n4096-w2048.4096-r1.2-h8-d64-fp32-p1-auto"});
  EXPECT_EQ(ids_of(sweep_of_cases("axes: {segments: 1024}")), Ids{"n4096-w1024-r1-h8-d64-fp32-p1-auto"});
  EXPECT_EQ(ids_of(sweep_of_cases("axes: {dilations: 4}")), Ids{"n4096-w2048-r4-h8-d64-fp32-p1-auto"});
}

TEST(Cases, OneListOfSegmentsServesAllDilations) {
  const Ids expected = {"n4096-w1024.2048-r1.2-h8-d64-fp32-p1-auto",
                        "n4096-w1024.2048-r2.4-h8-d64-fp32-p1-auto"};
  EXPECT_EQ(ids_of(sweep_of_cases("axes: {segments: [1024, 2048], dilations: [[1, 2], [2, 4]]}")), expected);
  EXPECT_EQ(ids_of(sweep_of_cases("axes: {segments: [[1024, 2048]], dilations: [[1, 2], [2, 4]]}")),
            expected);
}

TEST(Cases, PatternsAreSegmentsWithDilations) {
  EXPECT_EQ(ids_of(sweep_of_cases("axes: {patterns: [4k/1, 1024/1+2048/2, 2k / 4 + 4k, 512], heads: 2}")),
            (Ids{"n4096-w4096-r1-h2-d64-fp32-p1-auto", "n4096-w1024.2048-r1.2-h2-d64-fp32-p1-auto",
                 "n4096-w2048.4096-r4.1-h2-d64-fp32-p1-auto", "n4096-w512-r1-h2-d64-fp32-p1-auto"}));
  EXPECT_EQ(ids_of(sweep_of_cases("cases: [{patterns: 1k/2+2k/4}]")),
            Ids{"n4096-w1024.2048-r2.4-h8-d64-fp32-p1-auto"});
}

TEST(Cases, PatternsAndTheirPartsReplaceEachOther) {
  const Ids both = {"n4096-w8-r1-h8-d64-fp32-p1-auto", "n4096-w16.32-r2.4-h8-d64-fp32-p1-auto"};
  const SweepOverrides patterns = {.axes = {"patterns=8/1,16/2+32/4"}};
  for (const char* text :
       {"axes: {segments: [[64], [128]], dilations: [[2], [4]]}", "axes: {patterns: 64/2}",
        "cases: [{segments: 64, dilations: 2}]", "cases: [{patterns: 64/2}]", "axes: {dilations: 2}"})
    EXPECT_EQ(ids_of(sweep_of_cases(text, patterns)), both) << text;
  for (const char* text : {"axes: {patterns: 64/2}", "cases: [{patterns: 64/2}]"}) {
    EXPECT_EQ(ids_of(sweep_of_cases(text, {.axes = {"dilations=4,8"}})),
              (Ids{"n4096-w64-r4-h8-d64-fp32-p1-auto", "n4096-w64-r8-h8-d64-fp32-p1-auto"}));
    EXPECT_EQ(ids_of(sweep_of_cases(text, {.axes = {"segments=32"}})),
              Ids{"n4096-w32-r2-h8-d64-fp32-p1-auto"});
  }
}

TEST(Cases, SizesMayBeWrittenShort) {
  EXPECT_EQ(ids_of(sweep_of_cases("axes: {sequence_length: [8k, 1M], segments: [[2k]], heads: 1}")),
            (Ids{"n8192-w2048-r1-h1-d64-fp32-p1-auto", "n1048576-w2048-r1-h1-d64-fp32-p1-auto"}));
  EXPECT_EQ(ids_of(sweep_of_cases("axes: {sequence_length: {range: [1k, 3k, 1k]}}")).size(), 3u);
  EXPECT_EQ(ids_of(sweep_of_cases("axes: {sequence_length: 512}",
                                  {.axes = {"sequence_length=16k", "segments=1k.2k", "dilations=1.2"}})),
            Ids{"n16384-w1024.2048-r1.2-h8-d64-fp32-p1-auto"});
  EXPECT_TRUE(
      sweep_of_cases("axes: {sequence_length: 8193}\nskip_when: sequence_length > 8k").cases[0].skipped);
  EXPECT_FALSE(
      sweep_of_cases("axes: {sequence_length: 8192}\nskip_when: sequence_length > 8k").cases[0].skipped);
  const Sweep sweep = parse_sweep(
      "name: a\naxes: {grid: [1k, 64], window: [3, 3]}\n"
      "variants: [{kernel: dilated, order: [boxes.1k.2, random.2k]}]\n",
      "a.yaml");
  EXPECT_EQ(sweep.cases[0].work.sequence_length, 65536);
  EXPECT_EQ(variant_id(sweep.variants[0]), "dilated/boxes.1024.2");
  EXPECT_EQ(variant_id(sweep.variants[1]), "dilated/random.2048");
}

TEST(Cases, PowersOfTwoAndRangesIncludeTheirEnds) {
  const auto lengths = [](const std::string& axis) {
    std::vector<std::int64_t> values;
    for (const SweepCase& each : sweep_of_cases("axes: {sequence_length: " + axis + "}").cases)
      values.push_back(each.work.sequence_length);
    return values;
  };
  EXPECT_EQ(lengths("{pow2: [13, 16]}"), (std::vector<std::int64_t>{8192, 16384, 32768, 65536}));
  EXPECT_EQ(lengths("{range: [1000, 3000, 1000]}"), (std::vector<std::int64_t>{1000, 2000, 3000}));
  EXPECT_EQ(lengths("{range: [1000, 2999, 1000]}"), (std::vector<std::int64_t>{1000, 2000}));
  EXPECT_EQ(lengths("{range: [7, 7, 1]}"), (std::vector<std::int64_t>{7}));
}

TEST(Cases, PointsTakeDefaultsAndNotTheAxes) {
  EXPECT_EQ(ids_of(sweep_of_cases(
                "axes: {heads: 2, head_dim: 32}\ncases: [{sequence_length: 100, segments: [50]}]")),
            (Ids{"n4096-w2048-r1-h2-d32-fp32-p1-auto", "n100-w50-r1-h8-d64-fp32-p1-auto"}));
}

TEST(Cases, PointsAloneMakeNoProduct) {
  EXPECT_EQ(ids_of(sweep_of_cases("axes: {buffers: [pooled, fresh]}\ncases: [{heads: 2}]")),
            Ids{"n4096-w2048-r1-h2-d64-fp32-p1-auto"});
}

TEST(Cases, DuplicatesCollapse) {
  EXPECT_EQ(ids_of(sweep_of_cases("axes: {heads: [2, 2, 4], segments: [[8], [8]]}\n"
                                  "cases: [{heads: 4, segments: 8}, {heads: 4, segments: 8}, {heads: 3}]")),
            (Ids{"n4096-w8-r1-h2-d64-fp32-p1-auto", "n4096-w8-r1-h4-d64-fp32-p1-auto",
                 "n4096-w2048-r1-h3-d64-fp32-p1-auto"}));
}

TEST(Cases, KvHeadsFollowHeadsUnlessGiven) {
  const auto cases = sweep_of_cases("axes: {heads: [2, 4]}\ncases: [{heads: 6, kv_heads: 3}]").cases;
  ASSERT_EQ(cases.size(), 3u);
  EXPECT_EQ(cases[0].work.kv_heads, 2);
  EXPECT_EQ(cases[1].work.kv_heads, 4);
  EXPECT_EQ(cases[2].work.kv_heads, 3);
}

TEST(Cases, SkipWhenMarksCasesAndExcusesImpossibleOnes) {
  const auto cases =
      sweep_of_cases("axes: {heads: [2, 4], kv_heads: [2, 4]}\nskip_when: kv_heads > heads").cases;
  ASSERT_EQ(cases.size(), 4u);
  EXPECT_FALSE(cases[0].skipped);
  EXPECT_TRUE(cases[1].skipped);
  EXPECT_FALSE(cases[3].skipped);
}

TEST(Cases, AnOverrideReplacesItsParameterEverywhere) {
  const std::string text = "axes: {heads: [2, 4], head_dim: 32}\ncases: [{heads: 6}, {heads: 7}]";
  EXPECT_EQ(ids_of(sweep_of_cases(text, {.axes = {"heads=1,3"}})),
            (Ids{"n4096-w2048-r1-h1-d32-fp32-p1-auto", "n4096-w2048-r1-h3-d32-fp32-p1-auto",
                 "n4096-w2048-r1-h1-d64-fp32-p1-auto", "n4096-w2048-r1-h3-d64-fp32-p1-auto"}));
  EXPECT_EQ(ids_of(sweep_of_cases("cases: [{heads: 6}, {heads: 7}]", {.axes = {"heads=1,1"}})),
            Ids{"n4096-w2048-r1-h1-d64-fp32-p1-auto"});
}

TEST(Cases, PatternsAreOverriddenWithDots) {
  EXPECT_EQ(
      ids_of(sweep_of_cases("cases: [{heads: 6}]", {.axes = {"segments=2048.4096,4096", "dilations=1.2,4"}})),
      (Ids{"n4096-w2048.4096-r1.2-h6-d64-fp32-p1-auto", "n4096-w4096-r4-h6-d64-fp32-p1-auto"}));
}

TEST(Cases, AnOverrideOfOneHalfOfThePatternKeepsTheOther) {
  EXPECT_EQ(ids_of(sweep_of_cases("cases: [{segments: 4096, dilations: 2}]", {.axes = {"dilations=4,8"}})),
            (Ids{"n4096-w4096-r4-h8-d64-fp32-p1-auto", "n4096-w4096-r8-h8-d64-fp32-p1-auto"}));
  EXPECT_EQ(ids_of(sweep_of_cases("cases: [{segments: 4096, dilations: 2}]", {.axes = {"segments=512"}})),
            Ids{"n4096-w512-r2-h8-d64-fp32-p1-auto"});
  EXPECT_EQ(ids_of(sweep_of_cases("axes: {segments: 4096, dilations: 2}", {.axes = {"dilations=4,8"}})),
            (Ids{"n4096-w4096-r4-h8-d64-fp32-p1-auto", "n4096-w4096-r8-h8-d64-fp32-p1-auto"}));
}

TEST(Cases, TheDeviceOverrideReachesEveryCase) {
  for (const SweepCase& each :
       sweep_of_cases("axes: {device: auto}\ncases: [{heads: 6}]", {.device = DeviceKind::cpu}).cases)
    EXPECT_EQ(each.work.device, DeviceKind::cpu);
}

TEST(Cases, AHundredThousandExpandInUnderASecond) {
  const auto start = std::chrono::steady_clock::now();
  const Sweep sweep = sweep_of_cases(
      "axes: {sequence_length: {range: [1024, 101023, 100]}, heads: {range: [1, 100, 1]}}\n"
      "cases: [{heads: 3}]");
  const auto cases = sweep.cases;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(cases.size(), 100'001u);
  RecordProperty("seconds", std::to_string(elapsed.count()));
  EXPECT_LT(elapsed.count(), slowness());
  std::set<std::string> ids;
  for (const SweepCase& each : cases) ids.insert(case_id(each.work));
  EXPECT_EQ(ids.size(), cases.size());
}

TEST(Cases, ImpossibleOnesAreNamed) {
  EXPECT_FALSE(why_not({}));
  EXPECT_TRUE(why_not({.heads = 4, .kv_heads = 8}));
  EXPECT_TRUE(why_not({.sequence_length = 4, .ring_size = 5}));
  EXPECT_TRUE(why_not({.pattern = {{8, 1}, {8, 2}}, .heads = 1, .branch_heads = BranchHeads::partition}));
  EXPECT_TRUE(why_not({.sequence_length = std::int64_t{1} << 40, .batch = std::int64_t{1} << 40}));
  EXPECT_TRUE(
      why_not({.sequence_length = std::int64_t{1} << 40, .batch = 1 << 18, .heads = 1, .head_dim = 8}));
  EXPECT_FALSE(
      why_not({.sequence_length = std::int64_t{1} << 40, .batch = 1 << 18, .heads = 1, .head_dim = 4}));
}

}  // namespace
}  // namespace hilbench
