#include "harness/sweep/sweep.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>

#include "kernels/base/error.hpp"
#include "kernels/base/npy.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<std::string>;

const std::string kHead = "name: a\n";
const std::string kTail = "variants: [{kernel: dilated}]\n";

Sweep parse(const std::string& text, const SweepOverrides& overrides = {}) {
  return parse_sweep(text, "a.yaml", overrides);
}

// The message of the UsageError that the text is refused with.
std::string refusal(const std::string& text, const SweepOverrides& overrides = {}) {
  try {
    parse(text, overrides);
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  return "(accepted)";
}

// Refusal of a sweep whose `axes` are `text`.
std::string axes_refusal(const std::string& text) {
  return refusal(kHead + "axes: " + text + "\n" + kTail);
}

Ids variant_ids(const Sweep& sweep) {
  Ids ids;
  for (const Variant& variant : sweep.variants) ids.push_back(variant_id(variant));
  return ids;
}
Ids variant_ids(const std::string& variants, const SweepOverrides& overrides = {}) {
  return variant_ids(parse(kHead + "cases: [{heads: 8}]\n" + variants, overrides));
}
std::string variants_refusal(const std::string& variants, const SweepOverrides& overrides = {}) {
  return refusal(kHead + "cases: [{heads: 8}]\n" + variants, overrides);
}

#define EXPECT_SAYS(message, part)                                                \
  do {                                                                            \
    const std::string said = message;                                             \
    EXPECT_NE(said.find(part), std::string::npos) << said << "\nlacks: " << part; \
  } while (false)

// A folder of its own for a test's files.
class SweepFiles : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(testing::TempDir()) / (std::string("hilbench_sweep_") + info->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  std::string load_refusal(const fs::path& file) {
    try {
      load_sweep(file);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "(accepted)";
  }
  std::string text_refusal(const std::string& text) { return load_refusal(write("a.yaml", text)); }

  fs::path folder_;
};

TEST(Sweep, NamesTheClaimsThatItAnswers) {
  const std::string rest = "cases: [{}]\n" + kTail;
  EXPECT_TRUE(parse(kHead + rest).claims.empty());
  EXPECT_EQ(parse(kHead + rest + "claims: seeds").claims, Ids{"seeds"});
  EXPECT_EQ(parse(kHead + rest + "claims: [hybrid-core, guide-speedup, hybrid-core]").claims,
            (Ids{"hybrid-core", "guide-speedup"}));
  const std::string refused = refusal(kHead + rest + "claims: [hybrid-cores]");
  EXPECT_NE(refused.find("unknown claim 'hybrid-cores'"), std::string::npos) << refused;
  EXPECT_NE(refused.find("did you mean 'hybrid-core'?"), std::string::npos) << refused;
}

TEST(SweepVariants, RingOptionsStandInTheId) {
  EXPECT_EQ(variant_ids("variants: [{kernel: dilated, order: hilbert, sharding: [contiguous, zigzag], "
                        "ring_algorithm: [auto, ring_packed]}]\n"),
            (Ids{"dilated/hilbert", "dilated/hilbert.zigzag", "dilated/hilbert/ring_packed",
                 "dilated/hilbert.zigzag/ring_packed"}));
  EXPECT_EQ(variant_ids("variants: [{kernel: dilated, traversal: sawtooth, order_span: global, "
                        "ring_algorithm: allgather}]\n"),
            (Ids{"dilated/linear.global/sawtooth/allgather"}));
}

TEST(Sweep, ExternalBaselinesKeepTheirCommands) {
  const std::string text = kHead + R"(axes: {sequence_length: 128, segments: 64}
external:
  rival: {command: [python3, rival.py, 1]}
  unused: {command: other}
baselines: [rival, rival.fast, torch_sdpa.math]
)";
  const Sweep sweep = parse(text);
  EXPECT_EQ(variant_ids(sweep), (Ids{"rival", "rival.fast", "torch_sdpa.math"}));
  const fs::path folder = fs::current_path();
  EXPECT_EQ(sweep.externals,
            (Externals{{"rival", {{"python3", "rival.py", "1"}, folder}}, {"torch_sdpa", {{}, folder}}}));
  EXPECT_EQ(find_external(sweep.externals, "rival.fast"), &sweep.externals.at("rival"));
  EXPECT_EQ(find_external(sweep.externals, "gemm"), nullptr);
  EXPECT_EQ(sweep.external_use, ExternalUse::refused);
  EXPECT_EQ(parse(text, {.external_use = ExternalUse::allowed}).external_use, ExternalUse::allowed);
}

TEST(Sweep, EveryKeyArrives) {
  const Sweep sweep = parse(R"(
name: my-sweep_1
title: A title
description: Some text
axes: {sequence_length: 128, segments: 64}
skip_when: heads == 3
variants: [{kernel: dilated, order: [linear, hilbert]}]
baselines: gemm
reference: dilated/hilbert
measure: {interval: 0.5, budget_s: 1.5, min_rounds: 3, cache: cold, seed: 0, processes: 2, margin: 0.02, timeout_s: 7, oversubscribe: true}
counters: [default, software]
inputs: {source: random}
)");
  EXPECT_EQ(sweep.name, "my-sweep_1");
  EXPECT_EQ(sweep.title, "A title");
  EXPECT_EQ(sweep.description, "Some text");
  EXPECT_EQ(sweep.skip_when.text(), "heads == 3");
  EXPECT_EQ(variant_ids(sweep), (Ids{"dilated/linear", "dilated/hilbert", "gemm"}));
  EXPECT_EQ(sweep.reference, "dilated/hilbert");
  EXPECT_EQ(sweep.measure, (Measure{.interval = 0.5,
                                    .budget_s = 1.5,
                                    .min_rounds = 3,
                                    .cache = CacheState::cold,
                                    .seed = 0,
                                    .processes = 2,
                                    .margin = 0.02,
                                    .timeout_s = 7,
                                    .oversubscribe = true}));
  EXPECT_EQ(sweep.counters, (Ids{"default", "software"}));
  EXPECT_EQ(sweep.inputs.source, InputSource::random);
  EXPECT_NE(sweep.text.find("my-sweep_1"), std::string::npos);
}

TEST(Sweep, TheReferenceIsLinearUnlessGiven) {
  EXPECT_EQ(parse(kHead + "cases: [{}]\nvariants: [{kernel: dilated, order: [hilbert, linear]}]").reference,
            "dilated/linear");
  EXPECT_EQ(parse(kHead + "cases: [{}]\nvariants: [{kernel: dilated, order: hilbert}]").reference,
            "dilated/hilbert");
  EXPECT_SAYS(variants_refusal("variants: [{kernel: dilated}]\nreference: dilated/linaer"),
              "a.yaml:4, reference): allowed are dilated/linear; did you mean 'dilated/linear'?");
}

TEST(Sweep, AReferenceWithoutTraversalFindsHeadMajor) {
  const std::string variants = kHead + "cases: [{}]\nvariants: [{kernel: dilated, traversal: [";
  EXPECT_EQ(parse(variants + "sawtooth, head_major]}]\nreference: dilated/linear").reference,
            "dilated/linear/head_major");
  EXPECT_EQ(parse(variants + "head_major, auto]}]\nreference: dilated/linear").reference, "dilated/linear");
  EXPECT_EQ(parse(variants + "sawtooth, head_major]}]").reference, "dilated/linear/head_major");
}

TEST(Sweep, VariantListsMultiply) {
  EXPECT_EQ(
      variant_ids("variants: [{kernel: dilated, order: [linear, residue.8], buffers: [pooled, fresh]}]"),
      (Ids{"dilated/linear", "dilated/linear.fresh", "dilated/residue.8", "dilated/residue.8.fresh"}));
  EXPECT_EQ(variant_ids("variants: [{kernel: dilated, rows: [auto, gathered], key_visit: slot}]"),
            (Ids{"dilated/linear.slot", "dilated/linear.slot.gathered"}));
  EXPECT_EQ(variant_ids("variants: [{kernel: dilated, traversal: [auto, head_major, grouped.4]}]"),
            (Ids{"dilated/linear", "dilated/linear/head_major", "dilated/linear/grouped.4"}));
}

TEST(Sweep, AChunkBelongsToCurvesAndStaysOutOfTheId) {
  const Sweep sweep = parse(kHead +
                            "cases: [{}]\nvariants: [{kernel: dilated, order: [linear, hilbert, hilbert.512, "
                            "residue], order_chunk: 4096}]");
  EXPECT_EQ(variant_ids(sweep),
            (Ids{"dilated/linear", "dilated/hilbert", "dilated/hilbert.512", "dilated/residue"}));
  EXPECT_EQ(sweep.variants[0].order_chunk, 0);
  EXPECT_EQ(sweep.variants[1].order_chunk, 4096);
  EXPECT_EQ(sweep.variants[2].order_chunk, 0);
  EXPECT_EQ(sweep.variants[2].order_param, 512);
}

TEST(Sweep, SeveralChunksShowInTheId) {
  EXPECT_EQ(
      variant_ids("variants: [{kernel: dilated, order: [linear, hilbert], order_chunk: {pow2: [10, 11]}}]"),
      (Ids{"dilated/linear", "dilated/hilbert.1024", "dilated/hilbert.2048"}));
}

TEST(Sweep, OptionsUnderAxesAreDefaultsOfVariants) {
  EXPECT_EQ(variant_ids("axes: {buffers: [pooled, fresh]}\n"
                        "variants: [{kernel: dilated}, {kernel: dilated, order: hilbert, buffers: fresh}]"),
            (Ids{"dilated/linear", "dilated/linear.fresh", "dilated/hilbert.fresh"}));
  const std::string two = "variants: [{kernel: dilated}, {kernel: dilated, order: hilbert, buffers: fresh}]";
  EXPECT_EQ(variant_ids(two, {.axes = {"buffers=pooled,fresh"}}),
            (Ids{"dilated/linear", "dilated/linear.fresh", "dilated/hilbert.fresh"}));
  EXPECT_SAYS(variants_refusal("variants: [{kernel: dilated, buffers: fresh}]", {.axes = {"buffers=pooled"}}),
              "--axis, buffers): every entry");
}

TEST(Sweep, EqualIdsAreRefusedWithAWayOut) {
  EXPECT_SAYS(
      variants_refusal("variants:\n- {kernel: dilated, order: hilbert, order_chunk: 64}\n"
                       "- {kernel: dilated, order: hilbert, order_chunk: 128}"),
      "two variants with the id 'dilated/hilbert' (a.yaml:5, variants[1]): hilbert with order_chunk 64, and "
      "hilbert with order_chunk 128; write the chunk into the order to tell them apart: hilbert.128");
  EXPECT_SAYS(variants_refusal("variants: [{kernel: dilated}, {kernel: dilated, order: linear}]"),
              "listed twice");
  EXPECT_SAYS(variants_refusal("baselines: [gemm, gemm]"), "listed twice");
}

TEST(Sweep, UnknownNamesComeWithTheNearest) {
  EXPECT_SAYS(variants_refusal("variants: [{kernel: dilatde}]"), "did you mean 'dilated'?");
  EXPECT_SAYS(variants_refusal("variants: [{kernel: gemm}]"), "list it under baselines");
  EXPECT_SAYS(variants_refusal("variants: [{kernel: dilated, order: hilbrt}]"),
              "unknown order 'hilbrt' (a.yaml:3, variants[0].order)");
  EXPECT_SAYS(variants_refusal("variants: [{kernel: dilated, order: hilbrt}]"), "did you mean 'hilbert'?");
  EXPECT_SAYS(variants_refusal("variants: [{kernel: dilated, traversal: swtooth}]"),
              "did you mean 'sawtooth'?");
  EXPECT_SAYS(variants_refusal("baselines: [gem]"), "did you mean 'gemm'?");
  EXPECT_SAYS(variants_refusal("baselines: [torch_sdpa.mat]"), "did you mean 'torch_sdpa.math'?");
  EXPECT_SAYS(variants_refusal("baselines: [gemm.fast]"), "unknown baseline 'gemm.fast'");
  const std::string rival = "external: {rival: {command: rival}}\n";
  EXPECT_SAYS(variants_refusal(rival + "baselines: [rvial]"), "did you mean 'rival'?");
  EXPECT_SAYS(variants_refusal(rival + "baselines: [rival.A]"), "unknown baseline 'rival.A'");
  EXPECT_SAYS(variants_refusal(rival + "baselines: [rival.]"), "unknown baseline 'rival.'");
  EXPECT_SAYS(variants_refusal("external: [rival]\nbaselines: gemm"), "expects a map");
  EXPECT_SAYS(variants_refusal("external: {Rival: {command: r}}\nbaselines: gemm"), "cannot name a baseline");
  EXPECT_SAYS(variants_refusal("external: {gemm: {command: r}}\nbaselines: gemm"), "a name of this build");
  EXPECT_SAYS(variants_refusal("external: {torch_sdpa: {command: r}}\nbaselines: gemm"),
              "a name of this build");
  EXPECT_SAYS(variants_refusal("external: {rival: r}\nbaselines: gemm"), "command missing");
  EXPECT_SAYS(variants_refusal("external: {rival: {command: ''}}\nbaselines: gemm"), "command missing");
  EXPECT_SAYS(variants_refusal("external: {rival: {command: []}}\nbaselines: gemm"), "command missing");
  EXPECT_SAYS(variants_refusal("external: {rival: {comand: r}}\nbaselines: gemm"), "did you mean 'command'?");
  EXPECT_SAYS(variants_refusal("variants: [{kernel: dilated}]\ncounters: [defalt]"),
              "did you mean 'default'?");
  EXPECT_SAYS(variants_refusal("variants: [{kernel: dilated, bufers: fresh}]"), "did you mean 'buffers'?");
}

TEST(Sweep, ParametersOfNamesAreChecked) {
  const auto order = [](const std::string& name) {
    return variants_refusal("variants: [{kernel: dilated, order: " + name + "}]");
  };
  EXPECT_SAYS(order("linear.3"), "takes no parameter");
  EXPECT_SAYS(order("hilbert.0"), "takes an integer 1..2^40");
  EXPECT_SAYS(order("hilbert.x"), "takes an integer");
  EXPECT_SAYS(order("hilbert."), "takes an integer");
  EXPECT_SAYS(order("hilbert.08"), "takes an integer");
  EXPECT_SAYS(order("hilbert.99999999999999999999"), "takes an integer");
  EXPECT_SAYS(order("bitrev_residue.12"), "takes a power of two");
  EXPECT_EQ(order("bitrev_residue.16"), "(accepted)");
  EXPECT_SAYS(order("random.-1"), "takes a seed");
  EXPECT_EQ(order("random.0"), "(accepted)");
  EXPECT_SAYS(variants_refusal("variants: [{kernel: dilated, traversal: head_major.2}]"),
              "takes no parameter");
  EXPECT_SAYS(variants_refusal("variants: [{kernel: dilated, traversal: grouped.0}]"), "takes an integer");
}

TEST(Sweep, SomethingToMeasureIsNeeded) {
  EXPECT_SAYS(refusal("cases: [{}]\n" + kTail), "name missing");
  EXPECT_SAYS(refusal(kHead + kTail), "no case to measure");
  EXPECT_SAYS(refusal(kHead + "axes: {}\n" + kTail), "no case to measure");
  EXPECT_SAYS(refusal(kHead + "cases: []\n" + kTail), "empty list");
  EXPECT_SAYS(refusal(kHead + "cases: [{}]\n"), "no variant to measure");
  EXPECT_SAYS(refusal(kHead + "cases: [{}]\nvariants: [{order: linear}]"), "kernel missing");
}

TEST(SweepBadInput, UnknownKeysNameTheAllowedOnes) {
  EXPECT_SAYS(axes_refusal("{heads: 8,\n  sequnce_length: 8192}"),
              "unknown key 'sequnce_length' (a.yaml:3, axes.sequnce_length): allowed are sequence_length, ");
  EXPECT_SAYS(axes_refusal("{sequnce_length: 8192}"), "did you mean 'sequence_length'?");
  EXPECT_SAYS(refusal(kHead + "axis: {heads: 8}\n" + kTail), "did you mean 'axes'?");
  EXPECT_SAYS(refusal(kHead + "cases: [{kernel: dilated}]\n" + kTail), "unknown key 'kernel'");
  EXPECT_SAYS(refusal(kHead + "cases: [{}]\nmeasure: {intervall: 1}\n" + kTail), "did you mean 'interval'?");
  EXPECT_SAYS(refusal(kHead + "cases: [{}]\ninputs: {soruce: npy}\n" + kTail), "did you mean 'source'?");
}

TEST(SweepBadInput, WrongTypes) {
  EXPECT_SAYS(axes_refusal("[8192]"), "expects a map (a.yaml:2, axes): found a list");
  EXPECT_SAYS(axes_refusal("{heads: eight}"), "expects an integer 1..1099511627776 (a.yaml:2, axes.heads)");
  EXPECT_SAYS(axes_refusal("{heads: \"8\"}"), "found the text");
  EXPECT_SAYS(axes_refusal("{heads: 8.5}"), "expects an integer");
  EXPECT_SAYS(axes_refusal("{heads: 1e3}"), "expects an integer");
  EXPECT_SAYS(axes_refusal("{heads: 0x10}"), "expects an integer");
  EXPECT_SAYS(axes_refusal("{heads: 010}"), "expects an integer");
  EXPECT_SAYS(axes_refusal("{heads: [[8]]}"), "axes.heads[0]): found a list");
  EXPECT_SAYS(axes_refusal("{heads: }"), "found nothing");
  EXPECT_SAYS(axes_refusal("{heads: .inf}"), "expects an integer");
  EXPECT_SAYS(axes_refusal("{causal: yes}"), "expects true or false");
  EXPECT_SAYS(axes_refusal("{causal: \"true\"}"), "expects true or false");
  EXPECT_SAYS(axes_refusal("{dtype: fp23}"), "expects one of fp32, bf16, fp16 (a.yaml:2, axes.dtype)");
  EXPECT_SAYS(axes_refusal("{dtype: fp23}"), "did you mean 'fp32'?");
  EXPECT_SAYS(axes_refusal("{segments: {pow2: [3, 4]}}"), "expects a list of lengths");
  EXPECT_SAYS(refusal("name: [a]\n"), "expects text");
  EXPECT_SAYS(refusal("- a\n"), "expects a map");
  EXPECT_SAYS(refusal("just text"), "expects a map");
  EXPECT_SAYS(refusal(kHead + "cases: {heads: 8}\n" + kTail), "expects a list");
  EXPECT_SAYS(refusal(kHead + "cases: [8]\n" + kTail), "expects a map");
  EXPECT_SAYS(refusal(kHead + "cases: [{heads: [1, 2]}]\n" + kTail), "expects an integer");
  EXPECT_SAYS(refusal(kHead + "cases: [{segments: [[1], [2]]}]\n" + kTail), "expects one pattern");
  EXPECT_SAYS(refusal(kHead + "cases: [{}]\nvariants: dilated\n"), "expects a list");
  EXPECT_SAYS(refusal(kHead + "cases: [{}]\nskip_when: [a]\n" + kTail), "expects text");
  EXPECT_SAYS(refusal(kHead + "cases: [{}]\n\nskip_when: head == 1\n" + kTail),
              "a.yaml:4, skip_when, column 1");
}

TEST(Sweep, SteadySamplesLastTwoSecondsUnlessToldOtherwise) {
  const auto measure = [](const std::string& keys) {
    return parse_sweep(kHead + "cases: [{sequence_length: 64}]\nmeasure: " + keys + "\n" + kTail, "a.yaml")
        .measure;
  };
  EXPECT_FALSE(measure("{}").steady);
  EXPECT_TRUE(measure("{steady: true}").steady);
  EXPECT_EQ(measure("{steady: true}").steady_s, 2);
  EXPECT_EQ(measure("{steady: true, steady_s: 5.5, cache: warm}").steady_s, 5.5);
}

TEST(SweepBadInput, SteadySamples) {
  const auto refused = [](const std::string& keys) {
    return refusal(kHead + "cases: [{sequence_length: 64}]\nmeasure: " + keys + "\n" + kTail);
  };
  EXPECT_SAYS(refused("{steady: 2}"), "expects true or false (a.yaml:3, measure.steady)");
  EXPECT_SAYS(refused("{cache: cold, steady: true}"),
              "steady samples have warm caches (a.yaml:3, measure.steady)");
  EXPECT_SAYS(refused("{steady_s: 2}"), "only `steady: true` has it (a.yaml:3, measure.steady_s)");
  EXPECT_SAYS(refused("{steady: false, steady_s: 2}"), "only `steady: true` has it");
  EXPECT_SAYS(refused("{steady: true, steady_s: 0.05}"), "expects 0.1 to 60 seconds");
  EXPECT_SAYS(refused("{steady: true, steady_s: 61}"), "measure.steady_s");
  EXPECT_SAYS(refused("{steady: true, timeout_s: 5}"), "hung after timeout_s, 5 s");
}

TEST(SweepBadInput, EmptyAxes) {
  EXPECT_SAYS(axes_refusal("{heads: []}"), "empty list (a.yaml:2, axes.heads)");
  EXPECT_SAYS(axes_refusal("{dtype: []}"), "empty list");
  EXPECT_SAYS(axes_refusal("{segments: []}"), "empty list");
  EXPECT_SAYS(axes_refusal("{segments: [[]]}"), "empty list");
  EXPECT_SAYS(axes_refusal("{heads: {pow2: [5, 4]}}"), "empty axis");
  EXPECT_SAYS(axes_refusal("{heads: {range: [5, 4, 1]}}"), "empty axis");
  EXPECT_SAYS(variants_refusal("variants: [{kernel: dilated, order: []}]"), "empty list");
}

TEST(SweepBadInput, SizesOutOfRange) {
  EXPECT_SAYS(axes_refusal("{heads: 0}"), "0 is out of range");
  EXPECT_SAYS(axes_refusal("{heads: -1}"), "-1 is out of range");
  EXPECT_SAYS(axes_refusal("{heads: 1099511627777}"), "out of range");
  EXPECT_SAYS(axes_refusal("{heads: 99999999999999999999999}"), "out of range");
  EXPECT_SAYS(axes_refusal("{threads: 4097}"), "expects an integer 1..4096");
  EXPECT_SAYS(axes_refusal("{segments: [0]}"), "0 is out of range");
  EXPECT_SAYS(axes_refusal("{heads: {pow2: [0, 41]}}"), "41 is out of range");
  EXPECT_SAYS(axes_refusal("{heads: {pow2: [1]}}"), "expects two exponents");
  EXPECT_SAYS(axes_refusal("{threads: {pow2: [1, 20]}}"), "out of range");
  EXPECT_SAYS(axes_refusal("{heads: {range: [1, 2, 0]}}"), "out of range");
  EXPECT_SAYS(axes_refusal("{heads: {range: [1, 2]}}"), "expects first, last and step");
  EXPECT_SAYS(axes_refusal("{heads: {range: [1, 1099511627776, 1]}}"), "more than a million values");
  EXPECT_SAYS(axes_refusal("{heads: {pow2: [1, 2], range: [1, 2, 1]}}"), "expects one of");
  EXPECT_SAYS(axes_refusal("{heads: {pow3: [1, 2]}}"), "unknown key 'pow3'");
  EXPECT_SAYS(axes_refusal("{sequence_length: 1099511627776, batch: 1099511627776}"), "passes 2^62 bytes");
}

TEST(SweepBadInput, PatternsThatDoNotPair) {
  EXPECT_SAYS(axes_refusal("{segments: [[8], [16]], dilations: [[1]]}"),
              "1 patterns of dilations for 2 of segments");
  EXPECT_SAYS(axes_refusal("{segments: [[8, 16]], dilations: [[1]]}"),
              "1 dilations for 2 segments in pattern 1");
  EXPECT_SAYS(axes_refusal("{segments: [[8], 16]}"), "axes.segments[1])");
  EXPECT_SAYS(axes_refusal("{segments: [8, 16], dilations: [1, 17]}"),
              "dilation 17 is larger than its segment 16");
  EXPECT_SAYS(axes_refusal("{dilations: 2049}"), "dilation 2049 is larger than its segment 2048");
}

TEST(SweepBadInput, ImpossibleCombinations) {
  EXPECT_SAYS(axes_refusal("{heads: 4, kv_heads: [4, 8]}"),
              "impossible case (a.yaml:2, axes): kv_heads 8 is above heads 4; leave such");
  EXPECT_SAYS(axes_refusal("{sequence_length: 2, ring_size: 3}"), "ring_size 3 is above sequence_length 2");
  EXPECT_SAYS(axes_refusal("{heads: 1, branch_heads: partition, segments: [8, 16]}"),
              "2 branches share 1 heads");
  EXPECT_SAYS(refusal(kHead + "cases:\n- {heads: 8}\n- {heads: 4, kv_heads: 8}\n" + kTail),
              "impossible case (a.yaml:4, cases[1]): kv_heads 8");
}

TEST(SweepBadInput, AMillionCasesAreCountedBeforeTheyAreMade) {
  const std::string thousand = "{range: [1, 1000, 1]}";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_SAYS(axes_refusal("{heads: " + thousand + ", batch: " + thousand + ", head_dim: [1, 2]}"),
              "more than a million cases");
  EXPECT_SAYS(axes_refusal("{heads: " + thousand + ", batch: " + thousand + ", head_dim: " + thousand +
                           ", sequence_length: " + thousand + ", kv_heads: " + thousand +
                           ", ring_size: " + thousand + ", threads: " + thousand + "}"),
              "more than a million cases");
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  EXPECT_LT(elapsed.count(), 0.5);
  EXPECT_SAYS(refusal(kHead + "axes: {heads: " + thousand + ", batch: " + thousand +
                      "}\ncases: [{head_dim: 3}]\n" + kTail),
              "more than a million cases");
}

TEST(SweepBadInput, ThousandsOfVariantsAreRefused) {
  EXPECT_SAYS(
      variants_refusal("variants: [{kernel: dilated, order: hilbert, order_chunk: {range: [1, 1001, 1]}}]"),
      "more than 1000 variants");
}

TEST(SweepBadInput, MeasureIsChecked) {
  const auto measure = [](const std::string& text) {
    return variants_refusal("variants: [{kernel: dilated}]\nmeasure: {" + text + "}");
  };
  EXPECT_SAYS(measure("interval: 0"), "0 is out of range (a.yaml:4, measure.interval)");
  EXPECT_SAYS(measure("interval: 1"), "out of range");
  EXPECT_SAYS(measure("interval: .inf"), "expects a number");
  EXPECT_SAYS(measure("interval: .nan"), "expects a number");
  EXPECT_SAYS(measure("interval: nan"), "expects a number");
  EXPECT_SAYS(measure("interval: 0x1p-3"), "expects a number");
  EXPECT_SAYS(measure("budget_s: 0"), "out of range");
  EXPECT_SAYS(measure("budget_s: -3"), "out of range");
  EXPECT_SAYS(measure("budget_s: 1e400"), "out of range");
  EXPECT_SAYS(measure("timeout_s: 0"), "out of range");
  EXPECT_SAYS(measure("min_rounds: 2"), "expects an integer 3..100000");
  EXPECT_SAYS(measure("min_rounds: 100001"), "out of range");
  EXPECT_SAYS(measure("processes: 0"), "expects an integer 1..1000");
  EXPECT_SAYS(measure("seed: -1"), "out of range");
  EXPECT_SAYS(measure("seed: 4611686018427387905"), "out of range");
  EXPECT_EQ(measure("seed: 4611686018427387904, interval: 1e-3"), "(accepted)");
  EXPECT_SAYS(measure("cache: hot"), "expects one of warm, cold");
}

TEST(SweepBadInput, NamesStayNames) {
  for (const char* name : {"Upper", "a/b", "..", "'a b'", "'é'", "''", "\"a\\nb\""})
    EXPECT_SAYS(refusal("name: " + std::string(name) + "\ncases: [{}]\n" + kTail), "cannot name a folder");
  EXPECT_SAYS(refusal("name: " + std::string(101, 'a') + "\n"), "cannot name a folder");
  EXPECT_EQ(refusal("name: " + std::string(100, 'a') + "\ncases: [{}]\n" + kTail), "(accepted)");
}

TEST(SweepBadInput, YamlBeyondASweep) {
  EXPECT_SAYS(refusal(""), "the file is empty (a.yaml:1)");
  EXPECT_SAYS(refusal(" \n\n"), "the file is empty");
  EXPECT_SAYS(refusal("# comment only\n"), "expects a map");
  EXPECT_SAYS(refusal("name: a\nname: b\n"), "key 'name' is given twice (a.yaml:2)");
  EXPECT_SAYS(axes_refusal("{heads: 1, heads: 2}"), "key 'heads' is given twice");
  EXPECT_SAYS(refusal("name: a\n---\nname: b\n"), "several YAML documents (a.yaml:2)");
  EXPECT_SAYS(axes_refusal("{heads: !!int 8}"), "tags are not read");
  EXPECT_SAYS(axes_refusal("{heads: !mine 8}"), "tags are not read");
  EXPECT_SAYS(axes_refusal("!!map {heads: 8}"), "tags are not read");
  EXPECT_SAYS(axes_refusal("{? [a, b] : 8}"), "a key must be a word");
  EXPECT_SAYS(refusal("name: a\n  b: c\n d"), "not YAML (a.yaml:2)");
  EXPECT_SAYS(refusal("name: [a\n"), "not YAML");
  EXPECT_SAYS(refusal("name: \"a"), "not YAML");
  EXPECT_SAYS(refusal("title: \"a\\0b\"\n" + kHead), "control character");
  EXPECT_SAYS(refusal(std::string("name: a\0b", 9)), "not a text file (a.yaml:1): holds the byte 0x00");
  EXPECT_SAYS(refusal("name: a\x1b[31m"), "not a text file");
  EXPECT_SAYS(refusal("name: \xff\xfe"), "not UTF-8");
  EXPECT_SAYS(refusal("name: \xc0\x80"), "not UTF-8");
  EXPECT_SAYS(refusal("name: \xed\xa0\x80"), "not UTF-8");
  EXPECT_SAYS(refusal("name: a\xe2\x82"), "not UTF-8");
  EXPECT_SAYS(refusal("title: \"\\xzz\"\n" + kHead), "not YAML");
}

TEST(SweepBadInput, AnchorsAndAliasBombs) {
  EXPECT_SAYS(refusal("name: &x a\n"), "anchors and aliases are not read (a.yaml:1)");
  EXPECT_SAYS(refusal("name: a\ntitle: *x\n"), "anchor is not defined");
  std::string bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n";
  for (char level = 'b'; level < 'z'; ++level) {
    bomb += std::string(1, level) + ": &" + level + " [";
    for (int i = 0; i < 9; ++i) bomb += std::string(i > 0 ? "," : "") + "*" + static_cast<char>(level - 1);
    bomb += "]\n";
  }
  EXPECT_SAYS(refusal(bomb), "anchors and aliases are not read");
}

TEST(SweepBadInput, DeepNestingEndsEarly) {
  const auto repeated = [](const std::string& part, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += part;
    return text;
  };
  const auto start = std::chrono::steady_clock::now();
  EXPECT_SAYS(refusal(kHead + "axes: " + repeated("[", 20'000)), "nested too deep");
  EXPECT_SAYS(refusal(kHead + "axes: " + repeated("{a: ", 20'000)), "nested too deep");
  EXPECT_SAYS(refusal(kHead + "axes: " + repeated("[", 20'000) + repeated("]", 20'000)), "nested too deep");
  EXPECT_SAYS(refusal(repeated("- ", 20'000)), "nested too deep");
  EXPECT_SAYS(refusal(repeated("? ", 20'000)), "a key must be a word");
  EXPECT_SAYS(refusal(kHead + "axes: " + repeated("[\"]\",", 20'000)), "a.yaml:2");
  EXPECT_SAYS(refusal(repeated("[", 4'000'000)), "nested too deep");
  EXPECT_SAYS(refusal(kHead + "axes: {heads: [" + repeated("1,", 6'000'000)), "too many values");
  std::string block;
  for (int i = 0; i < 300; ++i) block += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  EXPECT_SAYS(refusal(block), "nested too deep");
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  EXPECT_LT(elapsed.count(), 5.0);
}

TEST(SweepBadInput, OverridesAreCheckedLikeTheFile) {
  const std::string text = kHead + "axes: {heads: 8}\n" + kTail;
  const auto override_refusal = [&](const std::string& axis) { return refusal(text, {.axes = {axis}}); };
  EXPECT_SAYS(override_refusal("heads"), "expects NAME=V,V");
  EXPECT_SAYS(override_refusal("=8"), "unknown parameter ''");
  EXPECT_SAYS(override_refusal("haeds=8"), "unknown parameter 'haeds' (--axis, haeds)");
  EXPECT_SAYS(override_refusal("haeds=8"), "did you mean 'heads'?");
  EXPECT_SAYS(override_refusal("heads="), "empty list");
  EXPECT_SAYS(override_refusal("heads=8,,9"), "expects an integer");
  EXPECT_SAYS(override_refusal("heads=0"), "0 is out of range");
  EXPECT_SAYS(override_refusal("dtype=fp8"), "expects one of");
  EXPECT_SAYS(override_refusal("segments=8..9"), "expects an integer");
  EXPECT_SAYS(override_refusal("segments=8,9"), "(accepted)");
  EXPECT_SAYS(override_refusal("dilations=4096"), "larger than its segment");
  EXPECT_SAYS(override_refusal("kernel=dilated"), "unknown parameter 'kernel'");
  EXPECT_SAYS(override_refusal("order=hilbrt"), "unknown order 'hilbrt' (--axis, order[0])");
  EXPECT_SAYS(refusal(text, {.axes = {"heads=1", "heads=2"}}), "given twice");
}

TEST_F(SweepFiles, FilesThatAreNoSweeps) {
  EXPECT_SAYS(load_refusal(folder_ / "none.yaml"), "no such sweep file");
  EXPECT_SAYS(load_refusal(folder_), "not a sweep file");
  EXPECT_SAYS(load_refusal("/dev/zero"), "not a sweep file");
  EXPECT_SAYS(text_refusal(""), "the file is empty");
  EXPECT_SAYS(text_refusal(std::string("\x7f"
                                       "ELF\x02\x01\x01\0\0",
                                       9)),
              "not a text file");
  EXPECT_SAYS(text_refusal(std::string((16u << 20) + 1, ' ')), "sweep file too large");
  EXPECT_SAYS(text_refusal(std::string(16u << 20, ' ')), "the file is empty");
}

TEST_F(SweepFiles, APermutationFileIsCheckedAtLoad) {
  const std::string text =
      kHead + "cases: [{sequence_length: 8}]\nvariants: [{kernel: dilated, order: file, order_file: s.npy}]";
  EXPECT_SAYS(text_refusal(text), "order_file cannot be used");
  EXPECT_SAYS(text_refusal(text), "variants[0].order_file");
  std::vector<std::int64_t> slots = {7, 6, 5, 4, 3, 2, 1, 0};
  write_npy(folder_ / "s.npy", slots);
  const Sweep sweep = load_sweep(write("a.yaml", text));
  EXPECT_EQ(sweep.variants[0].order_file, folder_ / "s.npy");
  EXPECT_NE(sweep.variants[0].order_file_hash, 0u);
  EXPECT_EQ(variant_id(sweep.variants[0]).size(), std::string("dilated/file.01234567").size());
  slots[0] = 6;
  write_npy(folder_ / "s.npy", slots);
  EXPECT_SAYS(text_refusal(text), "order_file is no bijection");
  slots[0] = 8;
  write_npy(folder_ / "s.npy", slots);
  EXPECT_SAYS(text_refusal(text), "position 0 has slot 8");
  slots = {1, 0};
  write_npy(folder_ / "s.npy", slots);
  EXPECT_SAYS(text_refusal(text), "order_file has 2 positions");
  write("s.npy", "garbage");
  EXPECT_SAYS(text_refusal(text), "not a .npy file");
  EXPECT_SAYS(text_refusal(kHead + "cases: [{}]\nvariants: [{kernel: dilated, order: file}]"),
              "order_file missing");
  EXPECT_SAYS(
      text_refusal(kHead + "cases: [{sequence_length: 2}]\nvariants: [{kernel: dilated, order_file: s.npy}]"),
      "order_file");
}

TEST_F(SweepFiles, TwoPermutationFilesHaveTwoIds) {
  write_npy(folder_ / "a.npy", std::vector<std::int64_t>{1, 0});
  write_npy(folder_ / "b.npy", std::vector<std::int64_t>{0, 1});
  const Sweep sweep =
      load_sweep(write("a.yaml", kHead + "cases: [{sequence_length: 2}]\nvariants: [{kernel: dilated, "
                                         "order: [linear, file], order_file: [a.npy, b.npy]}]"),
                 {});
  const Ids ids = variant_ids(sweep);
  ASSERT_EQ(ids.size(), 3u);
  EXPECT_EQ(ids[0], "dilated/linear");
  EXPECT_NE(ids[1], ids[2]);
}

TEST(Sweep, InputsAreAnAxis) {
  const Sweep sweep =
      parse(kHead + "axes: {heads: [1, 2], score_scale: [1, 0.5, 4, 4.0], data: [normal, equal_rows]}\n" +
            "cases: [{score_scale: 20, data: heavy_tails}]\n" + kTail);
  ASSERT_EQ(sweep.cases.size(), 13u);
  EXPECT_EQ(sweep.cases[0].work.score_scale, 1);
  EXPECT_EQ(sweep.cases[3].work.score_scale, 0.5);
  EXPECT_EQ(sweep.cases[3].work.data, DataKind::equal_rows);
  EXPECT_EQ(sweep.cases[12].work.score_scale, 20);
  EXPECT_EQ(sweep.cases[12].work.data, DataKind::heavy_tails);
  EXPECT_SAYS(axes_refusal("{score_scale: 0}"), "expects a number above 0.001 and at most 1000");
  EXPECT_SAYS(axes_refusal("{score_scale: [1, -4]}"), "a.yaml:2, axes.score_scale");
  EXPECT_SAYS(axes_refusal("{score_scale: much}"), "expects a number");
  EXPECT_SAYS(axes_refusal("{score_scale: {pow2: [1, 2]}}"), "expects a number");
  EXPECT_SAYS(axes_refusal("{data: equal}"), "normal, heavy_tails, dominating_key, equal_rows");
}

TEST(Sweep, InputsMayBeTheSameInAllCases) {
  const std::string text = kHead + "axes: {heads: [1, 2]}\ncases: [{heads: 3}]\n" + kTail +
                           "inputs: {score_scale: 4, data: dominating_key}\n";
  const auto expect_all = [](const Sweep& sweep, std::size_t count, double scale) {
    EXPECT_EQ(sweep.cases.size(), count);
    for (const SweepCase& each : sweep.cases) {
      EXPECT_EQ(each.work.score_scale, scale);
      EXPECT_EQ(each.work.data, DataKind::dominating_key);
    }
  };
  expect_all(parse(text), 3, 4);
  expect_all(parse(text, {.axes = {"score_scale=9"}}), 3, 9);
  EXPECT_EQ(parse(text, {.axes = {"data=normal,equal_rows"}}).cases.size(), 6u);
  EXPECT_TRUE(parse("skip_when: \"score_scale == 4\"\n" + text).cases[0].skipped);
}

TEST(Sweep, InputsStandInOnePlace) {
  const std::string inputs = "inputs: {score_scale: 4}\n";
  EXPECT_SAYS(
      refusal(kHead + "axes: {heads: 1, score_scale: [1, 2]}\n" + kTail + inputs),
      "'score_scale' stands under inputs too (a.yaml:2, axes.score_scale): inputs give one value to all "
      "cases, at a.yaml:4");
  EXPECT_SAYS(refusal(kHead + "cases: [{heads: 1}, {score_scale: 1}]\n" + kTail + inputs),
              "'score_scale' stands under inputs too (a.yaml:2, cases[1].score_scale)");
  EXPECT_SAYS(refusal(kHead + "axes: {heads: 1}\n" + kTail + "inputs: {score_scale: [1, 4]}\n"),
              "expects one value");
  EXPECT_SAYS(refusal(kHead + "axes: {heads: 1}\n" + kTail + "inputs: {data: odd}\n"),
              "a.yaml:4, inputs.data");
  EXPECT_SAYS(refusal(kHead + kTail + inputs), "no case to measure");
  EXPECT_SAYS(refusal(kHead + "axes: {data: heavy_tails}\n" + kTail +
                      "inputs: {source: npy, q: q.npy, k: k.npy, v: v.npy}\n"),
              "the files say what the inputs are (a.yaml:4, inputs.source)");
}

TEST_F(SweepFiles, TensorFilesAreCheckedAtLoad) {
  const std::string text = kHead +
                           "cases: [{sequence_length: 4, batch: 2, heads: 2, kv_heads: 1, head_dim: 3}]\n" +
                           kTail + "inputs: {source: npy, q: q.npy, k: k.npy, v: v.npy}\n";
  std::vector<float> q(2 * 4 * 2 * 3, 0.5f), kv(2 * 4 * 1 * 3, 0.5f);
  const std::vector<std::int64_t> q_shape = {2, 4, 2, 3}, kv_shape = {2, 4, 1, 3};
  write_npy(folder_ / "q.npy", q_shape, q);
  write_npy(folder_ / "k.npy", kv_shape, kv);
  EXPECT_SAYS(text_refusal(text), "tensor cannot be used (");
  EXPECT_SAYS(text_refusal(text), "inputs.v)");
  write_npy(folder_ / "v.npy", q_shape, q);
  EXPECT_SAYS(text_refusal(text), "tensor of another shape");
  write_npy(folder_ / "v.npy", kv_shape, kv);
  const Sweep sweep = load_sweep(write("a.yaml", text));
  EXPECT_EQ(sweep.inputs.source, InputSource::npy);
  EXPECT_EQ(sweep.inputs.v, folder_ / "v.npy");
  kv[5] = std::numeric_limits<float>::quiet_NaN();
  write_npy(folder_ / "v.npy", kv_shape, kv);
  EXPECT_SAYS(text_refusal(text), "NaN in the data");
  EXPECT_SAYS(text_refusal(kHead + "cases: [{}]\n" + kTail + "inputs: {source: npy, q: q.npy, k: k.npy}"),
              "v missing");
  EXPECT_SAYS(text_refusal(kHead + "cases: [{}]\n" + kTail + "inputs: {q: q.npy}"),
              "only `source: npy` reads files");
}

std::string read_text(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST(SweepFilesOfTheTree, AllLoadAndAreNamedAfterTheirFile) {
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(HILBENCH_SWEEPS)) {
    if (entry.path().extension() != ".yaml") continue;
    const Sweep sweep = load_sweep(entry.path());
    EXPECT_EQ(sweep.name, entry.path().stem().string());
    EXPECT_TRUE(sweep.reference.ends_with("/linear") || sweep.reference.ends_with("/linear/head_major"))
        << sweep.reference;
    EXPECT_FALSE(sweep.cases.empty());
    ++count;
  }
  EXPECT_GE(count, 14);
}

TEST(SweepFilesOfTheTree, QuickHoldsWhatTheClaimsLookFor) {
  const Sweep sweep = load_sweep(HILBENCH_SWEEPS "/quick.yaml", {.device = DeviceKind::cpu});
  Ids cases;
  for (const SweepCase& each : sweep.cases) cases.push_back(case_id(each.work));
  EXPECT_EQ(cases, (Ids{"n8192-w2048-r1-h8-d64-fp32-p1-cpu", "n8192-w2048.4096-r1.2-h8-d64-fp32-p1-cpu",
                        "n16384-w4096-r1-h8-d64-fp32-p1-cpu", "n16384-w4096-r2-h8-d64-fp32-p1-cpu"}));
  EXPECT_EQ(variant_ids(sweep), (Ids{"dilated/linear", "dilated/hilbert", "dilated/residue", "dilated/random",
                                     "dilated/hilbert@tokens", "gemm", "peak"}));
  EXPECT_EQ(sweep.variants[1].order_chunk, 4096);
  EXPECT_EQ(sweep.variants[4].order_chunk, 4096);
}

TEST(SweepFuzz, MutationsParseOrAreRefused) {
  const std::string whole = read_text(HILBENCH_SWEEPS "/example.yaml");
  const std::string pieces[] = {"[",    "]",        "{",     "}",
                                ": ",   "- ",       "\n",    "  ",
                                "&a ",  "*a",       "!!x ",  "'",
                                "\"",   "|",        ">",     "#",
                                "? ",   "0",        "-1",    "99999999999999999999",
                                ".nan", "~",        "---\n", "%",
                                "\t",   ",",        "\r",    "kv_heads: 3\n",
                                "pow2", "\xc3\xa9", "\xff"};
  std::mt19937 random(20240229);
  int accepted = 0, refused = 0;
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < std::chrono::seconds(3)) {
    std::string text = whole;
    for (std::uint32_t edits = 1 + random() % 4; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      const std::string& piece = pieces[random() % std::size(pieces)];
      switch (random() % 4) {
        case 0:
          text.insert(at, piece);
          break;
        case 1:
          text.erase(at, 1 + random() % 40);
          break;
        case 2:
          text[at] = static_cast<char>(random());
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 200));
      }
    }
    const auto begin = std::chrono::steady_clock::now();
    try {
      parse(text);
      ++accepted;
    } catch (const UsageError&) {
      ++refused;
    }
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    ASSERT_LT(elapsed.count(), 5.0) << text;
  }
  EXPECT_GT(accepted, 10);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace hilbench
