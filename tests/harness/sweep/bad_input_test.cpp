#include <gtest/gtest.h>

#include <chrono>

#include "tests/harness/sweep/sweep_text.hpp"

namespace hilbench {
namespace {

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
  EXPECT_SAYS(axes_refusal("{dtype: fp23}"), "expects one of fp32, bf16, fp16, auto (a.yaml:2, axes.dtype)");
  EXPECT_SAYS(axes_refusal("{dtype: fp23}"), "did you mean 'fp32'?");
  EXPECT_SAYS(axes_refusal("{dtype: float16}"), "did you mean 'fp16'?");
  EXPECT_SAYS(axes_refusal("{dtype: bfloat16}"), "did you mean 'bf16'?");
  EXPECT_SAYS(axes_refusal("{device: gpu}"), "did you mean 'cuda'?");
  EXPECT_SAYS(refusal(kHead + "axes:\n\theads: 8\n" + kTail), "a tab begins the line; write spaces");
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
  EXPECT_SAYS(
      axes_refusal("{heads: {pow2: [5, 4]}}"),
      "no value from 5 to 4 (a.yaml:2, axes.heads.pow2): the first is above the last; write pow2: [4, 5]");
  EXPECT_SAYS(axes_refusal("{heads: {range: [7, 4, 2]}}"),
              "no value from 7 to 4 (a.yaml:2, axes.heads.range): the first is above the last; write range: "
              "[4, 7, 2]");
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

TEST(SweepBadInput, ShortPatternsShowTheFormToWrite) {
  const std::string form = "write SEGMENT/DILATION, joined by + if there are several branches: 2048/1+8k/4";
  for (const char* pattern : {"4096/", "4096x2", "/2", "4096/1+", "4096/1/2", "a/b", "4096:2"})
    EXPECT_SAYS(axes_refusal(std::string("{patterns: [1024/1, \"") + pattern + "\"]}"), form);
  EXPECT_SAYS(axes_refusal("{patterns: [4096/]}"), "'4096/' is no pattern (a.yaml:2, axes.patterns[0])");
  EXPECT_SAYS(axes_refusal("{patterns: [[4096/2]]}"),
              "one pattern is expected (a.yaml:2, axes.patterns[0]): found a list");
  EXPECT_SAYS(axes_refusal("{patterns: [[4096, 2]]}"), "found a list");
  EXPECT_SAYS(axes_refusal("{patterns: {pow2: [3, 4]}}"), "found no text");
  EXPECT_SAYS(axes_refusal("{patterns: []}"), "empty list");
  EXPECT_SAYS(axes_refusal("{patterns: [8/16]}"), "dilation 16 is larger than its segment 8");
  EXPECT_SAYS(axes_refusal("{patterns: [0/1]}"), "segment lengths and dilation rates are 1..1099511627776");
  EXPECT_SAYS(axes_refusal("{patterns: [99999999999G/1]}"), "segment lengths and dilation rates are");
  EXPECT_SAYS(axes_refusal("{patterns: [8/1], segments: [8]}"),
              "patterns and segments (a.yaml:2, axes.patterns): patterns are segments with their dilations");
  EXPECT_SAYS(axes_refusal("{patterns: [8/1], grid: [8, 8], window: [3, 3]}"), "patterns and grid");
  EXPECT_SAYS(refusal(kHead + "cases: [{patterns: [8/1, 8/2]}]\n" + kTail), "found a list");
  EXPECT_SAYS(refusal(kHead + "cases: [{patterns: 8/1, dilations: 2}]\n" + kTail), "patterns and dilations");
  std::string branches = "8/1";
  for (int i = 0; i < 64; ++i) branches += "+8/1";
  EXPECT_SAYS(axes_refusal("{patterns: " + branches + "}"), "more than 64 branches");
  EXPECT_SAYS(axes_refusal("{segments: [8], dilations: [1, 2, 4]}"),
              "patterns: [8/1+8/2+8/4] if the branches are of one pattern, patterns: [8/1, ...] if not");
}

TEST(SweepBadInput, SizesShowTheFormToWrite) {
  for (const char* size : {"8K", "8kB", "8 k", "k", "0.5M", "08k", "8m", "1T", "-k", "8kk"})
    EXPECT_SAYS(axes_refusal(std::string("{heads: ") + size + "}"),
                "write digits alone, or k, M or G behind them: 8192 or 8k, 1048576 or 1M");
  EXPECT_SAYS(axes_refusal("{threads: 8k}"), "8k is out of range");
  EXPECT_SAYS(axes_refusal("{heads: 9999999999G}"), "9999999999G is out of range");
  EXPECT_SAYS(axes_refusal("{heads: -1k}"), "-1k is out of range");
}

TEST(SweepBadInput, AQuestionIsOneLine) {
  const std::string rest = "cases: [{}]\n" + kTail;
  for (const std::string& question :
       {std::string("[a]"), std::string("\"\""), std::string("|\n  one\n  two"), std::string(301, 'a')})
    EXPECT_SAYS(refusal(kHead + "question: " + question + "\n" + rest), "a.yaml:2, question)");
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

TEST(SweepBadInput, AChunkThatNoOrderTakesIsRefused) {
  const std::string why = ": the orders that have them are snake, ";
  EXPECT_SAYS(variants_refusal("variants: [{kernel: dilated, order: [linear, residue], order_chunk: 4096}]"),
              "order_chunk without an order that has chunks (a.yaml:3, variants[0].order_chunk)" + why);
  EXPECT_SAYS(refusal(kHead + "axes: {heads: 8, order_chunk: 64}\n" + kTail),
              "order_chunk without an order that has chunks (a.yaml:2, axes.order_chunk)" + why);
  EXPECT_EQ(variants_refusal("variants: [{kernel: dilated, order: [linear, hilbert], order_chunk: 4096}]"),
            "(accepted)");
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

}  // namespace
}  // namespace hilbench
