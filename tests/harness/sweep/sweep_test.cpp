#include "harness/sweep/sweep.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/harness/sweep/sweep_text.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

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
  EXPECT_EQ(variant_ids("variants: [{kernel: dilated, order: hilbert, sharding: [auto, zigzag], "
                        "ring_algorithm: [auto, ring_packed]}]\n"),
            (Ids{"dilated/hilbert", "dilated/hilbert.zigzag", "dilated/hilbert/ring_packed",
                 "dilated/hilbert.zigzag/ring_packed"}));
  EXPECT_EQ(variant_ids("variants: [{kernel: dilated, sharding: contiguous, ring_groups: 2, "
                        "outer_link: [direct, emulated_host]}]\n"),
            (Ids{"dilated/linear.contiguous/auto.2", "dilated/linear.contiguous/auto.2.emulated_host"}));
  EXPECT_EQ(variant_ids("variants: [{kernel: dilated, ring_algorithm: ulysses, head_parts: [0, 4]}]\n"),
            (Ids{"dilated/linear/ulysses", "dilated/linear/ulysses.parts4"}));
  EXPECT_EQ(
      variant_ids("variants: [{kernel: dilated, ring_algorithm: ulysses, head_moves: [auto, regrouped]}]\n"),
      (Ids{"dilated/linear/ulysses", "dilated/linear/ulysses.regrouped"}));
  EXPECT_EQ(variant_ids("variants: [{kernel: dilated, traversal: sawtooth, order_span: global, "
                        "ring_algorithm: allgather}]\n"),
            (Ids{"dilated/linear.global/sawtooth/allgather"}));
}

// Sharding was contiguous by default once, and not in the id.
TEST(SweepVariants, AReferenceWithoutShardingFindsTheFormerDefault) {
  const std::string head = kHead + "cases: [{}]\nvariants: [{kernel: dilated, sharding: [";
  EXPECT_EQ(parse(head + "contiguous, zigzag]}]\nreference: dilated/linear\n").reference,
            "dilated/linear.contiguous");
  EXPECT_EQ(parse(head + "contiguous, auto]}]\nreference: dilated/linear\n").reference, "dilated/linear");
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
question: Does it help?
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
  EXPECT_EQ(sweep.question, "Does it help?");
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

TEST(Sweep, PagesAreAnAxis) {
  const std::string text = kHead + "axes: {heads: [1, 2], pages: [default, 4k, 2m]}\n" + kTail;
  const Sweep sweep = parse(text);
  ASSERT_EQ(sweep.cases.size(), 6u);
  EXPECT_EQ(sweep.cases[0].work.pages, PageSize::standard);
  EXPECT_EQ(sweep.cases[1].work.pages, PageSize::of_4k);
  EXPECT_EQ(sweep.cases[2].work.pages, PageSize::of_2m);
  EXPECT_EQ(parse(text, {.axes = {"pages=2m"}}).cases.size(), 2u);
  EXPECT_TRUE(parse("skip_when: \"pages == 2m\"\n" + text).cases[2].skipped);
  EXPECT_SAYS(axes_refusal("{pages: 1g}"), "default, 4k, 2m");
  EXPECT_SAYS(axes_refusal("{pages: 1g}"), "a.yaml:2, axes.pages");
  EXPECT_SAYS(refusal(text, {.axes = {"pages=huge"}}), "default, 4k, 2m");
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
  EXPECT_EQ(sweep.variants[0].kernel().order_chunk, 0);
  EXPECT_EQ(sweep.variants[1].kernel().order_chunk, 4096);
  EXPECT_EQ(sweep.variants[2].kernel().order_chunk, 0);
  EXPECT_EQ(sweep.variants[2].kernel().order_param, 512);
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

TEST(Sweep, ABaselineMayBeForOneDevice) {
  const Sweep sweep = parse(kHead + "cases: [{heads: 8}]\nbaselines: [{gemm: cpu}, {cudnn: cuda}, peak]\n");
  EXPECT_EQ(variant_ids(sweep), (Ids{"gemm", "cudnn", "peak"}));
  const auto asked = [&](std::size_t variant, DeviceKind device) {
    return is_asked_on(sweep, sweep.variants.at(variant), device);
  };
  EXPECT_TRUE(asked(0, DeviceKind::cpu));
  EXPECT_FALSE(asked(0, DeviceKind::cuda));
  EXPECT_TRUE(asked(1, DeviceKind::cuda));
  EXPECT_FALSE(asked(1, DeviceKind::cpu));
  EXPECT_TRUE(asked(2, DeviceKind::cuda) && asked(2, DeviceKind::cpu));
  EXPECT_SAYS(variants_refusal("baselines: [{gemm: auto}]"), "cpu");
  EXPECT_SAYS(variants_refusal("baselines: [{gem: cpu}]"), "did you mean 'gemm'?");
  EXPECT_SAYS(variants_refusal("baselines: [{gemm: cpu, cudnn: cuda}]"), "one name with its device");
  EXPECT_SAYS(variants_refusal("baselines: [{gemm: cpu}, gemm]"), "listed twice");
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

}  // namespace
}  // namespace hilbench
