// Windows on grids in sweep files: `grid`, `window` and the other lists of one entry for each dimension.
#include "kernels/case/windows.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/harness/sweep/sweep_text.hpp"

namespace hilbench {
namespace {

std::string text_of(const std::string& cases, const std::string& variants) {
  return kHead + cases + "\nvariants: [" + variants + "]\n";
}

Sweep windows_sweep(const std::string& cases, const SweepOverrides& overrides = {},
                    const std::string& variants = "{kernel: dilated}") {
  return parse(text_of(cases, variants), overrides);
}

std::string refusal_of(const std::string& cases, const SweepOverrides& overrides = {},
                       const std::string& variants = "{kernel: dilated}") {
  return refusal(text_of(cases, variants), overrides);
}

Ids ids(const Sweep& sweep) {
  Ids found;
  for (SweepCase each : sweep.cases) {
    each.work.device = DeviceKind::cpu;
    found.push_back(case_id(each.work));
  }
  return found;
}

TEST(SweepWindows, ListsOfDimensionsMakeCases) {
  const Sweep sweep = windows_sweep("axes: {grid: [32, 48, 80], window: [18, 24, 24], heads: 2}");
  ASSERT_EQ(sweep.cases.size(), 1u);
  const Case& work = sweep.cases[0].work;
  EXPECT_EQ(work.sequence_length, 122880);
  EXPECT_EQ(work.pattern, (std::vector<Branch>{{122880, 1}}));
  EXPECT_EQ(work.windows,
            (std::vector<WindowDimension>{
                {.extent = 32, .window = 18}, {.extent = 48, .window = 24}, {.extent = 80, .window = 24}}));
  EXPECT_EQ(work.edges, Edges::shift);
}

TEST(SweepWindows, ListsOfListsMultiply) {
  EXPECT_EQ(ids(windows_sweep(
                    "axes: {grid: [[16, 16], [8, 32]], window: [[3, 3], [5, 7]], window_dilation: [1, 1], "
                    "window_causal: [[true, false], [false, false]], edges: cut}"))
                .size(),
            8u);
  EXPECT_EQ(ids(windows_sweep(
                "axes: {grid: [16, 8], window: [5, 4], window_dilation: [2, 1], window_stride: [1, 3], "
                "window_causal: [false, true], edges: [shift, cut], causal: true}")),
            (std::vector<std::string>{
                "g16x8-win5x4-h8-d64-fp32-p1-cpu-causal.true-window_dilation.2x1-window_stride.1x3-"
                "window_causal.false.true",
                "g16x8-win5x4-h8-d64-fp32-p1-cpu-causal.true-edges.cut-window_dilation.2x1-"
                "window_stride.1x3-window_causal.false.true"}));
}

TEST(SweepWindows, PointsAndAxesMayDiffer) {
  const Sweep sweep = windows_sweep(
      "axes: {sequence_length: 64, segments: [32], dilations: [2]}\n"
      "cases: [{grid: [8, 8], window: [3, 3]}, {sequence_length: 128}, {grid: [4, 4, 4], window: [3, 3, 3], "
      "sequence_length: 64}]");
  EXPECT_EQ(ids(sweep), (std::vector<std::string>{
                            "n64-w32-r2-h8-d64-fp32-p1-cpu", "g8x8-win3x3-h8-d64-fp32-p1-cpu",
                            "n128-w2048-r1-h8-d64-fp32-p1-cpu", "g4x4x4-win3x3x3-h8-d64-fp32-p1-cpu"}));
}

TEST(SweepWindows, TheCommandLineReplacesLists) {
  const std::string cases = "cases: [{grid: [16, 16], window: [3, 3]}]";
  EXPECT_EQ(ids(windows_sweep(cases, {.axes = {"window=5x5,7x3", "window_causal=true.false"}})),
            (std::vector<std::string>{"g16x16-win5x5-h8-d64-fp32-p1-cpu-window_causal.true.false",
                                      "g16x16-win7x3-h8-d64-fp32-p1-cpu-window_causal.true.false"}));
  EXPECT_EQ(ids(windows_sweep("axes: {grid: [[16, 16], [8, 8]], window: [3, 3]}", {.axes = {"grid=4x4"}})),
            (std::vector<std::string>{"g4x4-win3x3-h8-d64-fp32-p1-cpu"}));
  EXPECT_SAYS(refusal_of(cases, {.axes = {"segments=8.16"}}), "branches and windows do not mix in one case");
  EXPECT_SAYS(refusal_of(cases, {.axes = {"sequence_length=100"}}), "is not that of the grid");
}

TEST(SweepWindows, RefusesWhatIsNoWindow) {
  const auto axes = [](const std::string& text) { return refusal_of("axes: {" + text + "}"); };
  EXPECT_SAYS(axes("grid: [16, 16]"), "window missing");
  EXPECT_SAYS(axes("window: [3, 3]"), "grid missing");
  EXPECT_SAYS(axes("grid: [16, 16], window: [3, 3, 3]"), "window has 3 entries for a grid of 2 dimensions");
  EXPECT_SAYS(axes("grid: [16, 16], window: [3, 3], window_stride: [1, 2, 1]"),
              "window_stride has 3 entries for a grid of 2 dimensions");
  EXPECT_SAYS(axes("grid: 16, window: 3"), "grid expects a list");
  EXPECT_SAYS(axes("grid: [16], window: [3]"), "grid with 1 entries");
  EXPECT_SAYS(axes("grid: [2, 2, 2, 2], window: [1, 1, 1, 1]"), "two or three dimensions");
  EXPECT_SAYS(axes("grid: [16, 0], window: [3, 3]"), "a.yaml:2");
  EXPECT_SAYS(axes("grid: [16, 16], window: [3, 3], sequence_length: 255"),
              "sequence_length 255 is not that of the grid: 16 x 16 = 256; leave sequence_length out");
  EXPECT_SAYS(axes("grid: [16, 16], window: [9, 3], window_dilation: [2, 1]"), "edges: cut allows it");
  EXPECT_SAYS(axes("grid: [16, 16], window: [9, 3], window_stride: [1, 4]"),
              "window_stride 4 is above window 3");
  EXPECT_SAYS(axes("grid: [16, 16], window: [3, 3], segments: [8]"), "do not mix in one case");
  EXPECT_SAYS(axes("grid: [16, 16], window: [3, 3], queries: dense"), "queries: dense is for branches");
  EXPECT_SAYS(axes("sequence_length: 256, edges: cut"), "edges: cut is for windows");
  EXPECT_SAYS(refusal_of("cases: [{grid: [[16, 16], [8, 8]], window: [3, 3]}]"), "grid expects one list");
  EXPECT_SAYS(refusal_of("cases: [{grid: [16, 16], window: [3, 3], dilations: [2]}]"),
              "do not mix in one case");
}

TEST(SweepWindows, ConditionsKnowThem) {
  const std::string axes = "axes: {grid: [[16, 16], [8, 8]], window: [[3, 3], [9, 3]]}\n";
  const Sweep sweep = windows_sweep(axes + "skip_when: window > 8 and grid == 8");
  ASSERT_EQ(sweep.cases.size(), 4u);
  for (const SweepCase& each : sweep.cases)
    EXPECT_EQ(each.skipped, each.work.windows[0].extent == 8 && each.work.windows[0].window == 9);
  EXPECT_TRUE(windows_sweep(axes + "skip_when: dimensions == 2 or window > 8").cases[0].skipped);
  EXPECT_FALSE(windows_sweep("cases: [{sequence_length: 64}]\nskip_when: dimensions > 0 or window >= 1")
                   .cases[0]
                   .skipped);
  EXPECT_FALSE(
      windows_sweep("cases: [{grid: [8, 8], window: [3, 3]}]\nskip_when: segment_length >= 1 or branches > 0")
          .cases[0]
          .skipped);
}

TEST(SweepWindows, OrdersOfBoxes) {
  const std::string cases = "cases: [{grid: [16, 16], window: [3, 3]}]";
  const Sweep sweep = windows_sweep(cases, {}, "{kernel: dilated, order: [linear, boxes.8.16, boxes.4.4.4]}");
  ASSERT_EQ(sweep.variants.size(), 3u);
  EXPECT_EQ(sweep.variants[1].kernel().order_box, (std::vector<std::int64_t>{8, 16}));
  EXPECT_EQ(variant_id(sweep.variants[1]), "dilated/boxes.8.16");
  for (const char* wrong :
       {"boxes", "boxes.8", "boxes.8.0", "boxes.8.x", "boxes.1.2.3.4", "boxes.8.", "boxes..8"})
    EXPECT_SAYS(refusal_of(cases, {}, std::string("{kernel: dilated, order: ") + wrong + "}"),
                "order 'boxes' takes the extents of a box");
  EXPECT_SAYS(refusal_of(cases, {}, "{kernel: dilated, order: hilbert.8.8}"),
              "order 'hilbert' takes an integer");
}

// A chunk cuts a sequence, and a grid is none.
TEST(SweepWindows, RefusesChunks) {
  const std::string cases = "cases: [{grid: [16, 16], window: [3, 3]}]";
  for (const char* order : {"hilbert", "boxes.8.16"})
    EXPECT_SAYS(refusal_of(cases, {}, fmt::format("{{kernel: dilated, order: {}, order_chunk: 64}}", order)),
                "variants[0].order_chunk): a chunk is a stretch of a sequence; leave order_chunk out");
  EXPECT_SAYS(refusal_of(cases, {.axes = {"order_chunk=64"}}, "{kernel: dilated, order: hilbert}"),
              "order_chunk does not apply to grids (--axis, order_chunk)");
  EXPECT_SAYS(
      refusal_of(cases, {}, "{kernel: dilated, order: hilbert.64}"),
      "variants[0].order): order_chunk does not apply to grids: a chunk is a stretch of a sequence; write "
      "order: hilbert");
  for (const std::string others :
       {"", ", {grid: [16, 16], window: [3, 3]}"})  // the plan skips it for the grid
    EXPECT_EQ(refusal_of("cases: [{sequence_length: 64}" + others + "]", {},
                         "{kernel: dilated, order: hilbert.64}"),
              "(accepted)");
}

}  // namespace
}  // namespace hilbench
