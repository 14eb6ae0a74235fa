#include "harness/plan/window_plan.hpp"

#include <gtest/gtest.h>

#include "harness/plan/plan.hpp"
#include "harness/plan/plan_tables.hpp"
#include "harness/run/make_task.hpp"
#include "harness/sweep/embedded.hpp"

namespace hilbench {
namespace {

Site windows_site() {
  Site site;
  site.host.cores = 4;
  site.host.available_memory_bytes = std::int64_t{4} << 30;
  site.host.nominal_ghz = 2;
  return site;
}

struct Planned {
  Sweep sweep;
  Plan plan;
  Planned(const std::string& cases, const std::string& variants, const Site& site = windows_site())
      : sweep(parse_sweep("name: plan\ncases: [{" + cases + ", device: cpu}]\nvariants: [" + variants +
                              "]\nbaselines: [gemm, peak]\n",
                          "plan.yaml")),
        plan(make_plan(sweep, site)) {}
  Planned(const Sweep& parsed, const Site& site) : sweep(parsed), plan(make_plan(sweep, site)) {}
  const Comparison& comparison() const { return plan.comparisons.at(0); }
  const PlannedVariant& variant(const std::string& id) const {
    for (const PlannedVariant& planned : comparison().variants)
      if (planned.variant_id == id) return planned;
    throw std::out_of_range(id);
  }
};

const std::string kGrid = "grid: [128, 128], window: [13, 13], heads: 2, head_dim: 16";

TEST(WindowPlan, CountsNeededAndComputedPairs) {
  const Planned planned(
      kGrid, "{kernel: dilated, order: [linear, hilbert], order_tensors: qkv, tiles: [union, aligned]}");
  const double needed = 2.0 * 16384 * 169;
  for (const char* id :
       {"dilated/linear.qkv.union", "dilated/linear.qkv.aligned", "dilated/hilbert.qkv.union"}) {
    const PlannedVariant& variant = planned.variant(id);
    ASSERT_FALSE(variant.skip) << *variant.skip;
    EXPECT_EQ(variant.flops, 4 * 16 * needed);
    ASSERT_TRUE(variant.pairs);
    EXPECT_EQ(variant.pairs->needed, needed);
    EXPECT_DOUBLE_EQ(variant.pairs->computed, 2 * 16384.0 * 16384.0 * variant.pairs->density);
  }
  EXPECT_NEAR(planned.variant("dilated/linear.qkv.aligned").pairs->density, 0.1016, 0.0001);
  EXPECT_NEAR(planned.variant("dilated/hilbert.qkv.aligned").pairs->density, 0.0590, 0.0001);
  EXPECT_NEAR(planned.variant("dilated/hilbert.qkv.union").pairs->computed / needed, 3.02, 0.01);
  const std::string table = plan_table(planned.plan, planned.sweep.measure);
  EXPECT_NE(
      table.find("pairs: 5.538e+06 needed, 3.165e+07 computed (5.72 times, 5.90 % of all); 100.0 % of key "
                 "blocks masked"),
      std::string::npos)
      << table;
}

TEST(WindowPlan, TellsWhichPairsItCounts) {
  const Sweep sweep = parse_sweep("name: plan\ncases: [{" + kGrid +
                                      ", device: cpu}, {sequence_length: 64}]\n"
                                      "variants: [{kernel: dilated, order: [linear, random, boxes.8.8.8]}]\n"
                                      "baselines: [gemm]\n",
                                  "plan.yaml");
  std::vector<std::string> told;
  const Plan plan = make_plan(sweep, windows_site(), [&](const std::string& name) { told.push_back(name); });
  const std::string windowed = plan.comparisons.at(0).case_id + "/dilated/";
  EXPECT_EQ(told, (std::vector<std::string>{windowed + "linear", windowed + "random"}))
      << "neither what is skipped nor what has no windows";
}

// Counting these tiles would take hours: 32768 lists of 4 million keys.
TEST(WindowPlan, SkipsListsThatCannotFitWithoutCountingThem) {
  const Planned planned("grid: [2048, 2048], window: [2048, 2048], heads: 1, head_dim: 16",
                        "{kernel: dilated, order: [linear, hilbert], order_tensors: qkv}");
  for (const char* id : {"dilated/linear.qkv", "dilated/hilbert.qkv"}) {
    const PlannedVariant& variant = planned.variant(id);
    ASSERT_TRUE(variant.skip) << id;
    EXPECT_TRUE(variant.skip->starts_with("does not fit: the comparison would need 51")) << *variant.skip;
    EXPECT_FALSE(variant.pairs) << id;
  }
}

TEST(WindowPlan, SkipsWhatCannotComputeWindows) {
  const Planned planned(
      kGrid,
      "{kernel: dilated, order: [linear, bitrev_residue, boxes.8.8.8]}, {kernel: dilated, order: "
      "hilbert, key_visit: slot}");
  EXPECT_EQ(planned.variant("gemm").skip, "windows: not on gemm");
  EXPECT_FALSE(planned.variant("peak").skip);
  EXPECT_FALSE(planned.variant("peak").pairs);
  EXPECT_EQ(planned.variant("dilated/bitrev_residue").skip, "order bitrev_residue has no form on grids");
  EXPECT_EQ(planned.variant("dilated/boxes.8.8.8").skip,
            "order boxes of 3 extents on a grid of 2 dimensions: write boxes.8.16");
  EXPECT_EQ(planned.variant("dilated/hilbert.slot").skip,
            "key_visit: tiles of windows always read their keys by slot");
  for (const PlannedVariant& variant : planned.comparison().variants)
    EXPECT_EQ(planned_record(planned.sweep, planned.comparison(), variant).order_chunk, 0)
        << variant.variant_id;
  const Planned ring(kGrid + ", ring_size: 2", "{kernel: dilated}");
  EXPECT_EQ(ring.variant("dilated/linear").skip, "windows: a ring exchanges the keys of branches only");
  const Planned backward(kGrid + ", pass: backward", "{kernel: dilated}");
  EXPECT_FALSE(backward.variant("dilated/linear").skip);
  const Planned branches("sequence_length: 4096",
                         "{kernel: dilated}, {kernel: dilated, tiles: aligned}, "
                         "{kernel: dilated, order: boxes.8.8}");
  EXPECT_EQ(branches.variant("dilated/linear.aligned").skip, "tiles: only windows have tiles of keys");
  EXPECT_EQ(branches.variant("dilated/boxes.8.8").skip,
            "order boxes is for grids alone; this sequence has no grid");
}

// The masks of sweeps/windows/points.yaml, which the program holds.
Planned points(const std::string& more, const std::string& variants) {
  const std::string text = "name: plan\ncases: [{mask: points-raster.npy, heads: 2, head_dim: 16" + more +
                           ", device: cpu}]\nvariants: [" + variants + "]\nbaselines: [gemm, peak]\n";
  return Planned(parse_embedded({.file = "sweeps/windows/points.yaml", .text = text}), windows_site());
}

TEST(WindowPlan, CountsThePairsOfAMask) {
  const Planned planned = points("", "{kernel: dilated, order: [linear, random], order_tensors: qkv}");
  const PlannedVariant& linear = planned.variant("dilated/linear.qkv");
  ASSERT_TRUE(linear.pairs);
  const double needed = 2 * 64 * 64 * 2146.0;  // blocks of the mask, as points.py prints their share
  EXPECT_EQ(linear.pairs->needed, needed);
  EXPECT_EQ(linear.flops, 4 * 16 * needed);
  EXPECT_GE(linear.pairs->computed, needed);
  EXPECT_LT(linear.pairs->computed, 1.2 * needed);
  EXPECT_GT(planned.variant("dilated/random.qkv").pairs->density, 0.95);
}

TEST(WindowPlan, SkipsWhatCannotComputeAMask) {
  const Planned planned =
      points("",
             "{kernel: dilated, order: [linear, hilbert, hilbert.512, boxes.8.8]}, {kernel: "
             "dilated, order: hilbert, key_visit: slot}");
  EXPECT_EQ(planned.variant("gemm").skip, "windows: not on gemm");
  EXPECT_FALSE(planned.variant("dilated/hilbert").skip);
  EXPECT_FALSE(planned.variant("dilated/hilbert.512").skip);
  EXPECT_EQ(planned.variant("dilated/boxes.8.8").skip,
            "order boxes is for grids alone; this sequence has no grid");
  EXPECT_EQ(planned.variant("dilated/hilbert.slot").skip,
            "key_visit: tiles of windows always read their keys by slot");
  const Planned grid = points(", grid: [64, 128]", "{kernel: dilated, order: [bitrev_residue, boxes.8.8]}");
  EXPECT_FALSE(grid.variant("dilated/boxes.8.8").skip);
  EXPECT_EQ(grid.variant("dilated/bitrev_residue").skip, "order bitrev_residue has no form on grids");
  const Planned ring = points(", ring_size: 2", "{kernel: dilated}");
  EXPECT_EQ(ring.variant("dilated/linear").skip, "windows: a ring exchanges the keys of branches only");
  const Planned backward = points(", pass: backward", "{kernel: dilated}");
  EXPECT_FALSE(backward.variant("dilated/linear").skip);
  EXPECT_NE(longest_table(planned.sweep, windows_site()).find("mask: its blocks give the length"),
            std::string::npos);
}

TEST(WindowPlan, KernelsOfGpusComputeWindowsOrSayWhyNot) {
  Site site = windows_site();
  site.gpu =
      Gpu{.name = "a GPU", .compute_capability = 90, .multiprocessors = 100, .memory_bytes = 1ll << 36};
  const Sweep sweep = parse_sweep(
      "name: plan\ncases: [{grid: [128, 128], window: [13, 13], heads: 2, head_dim: 64, "
      "dtype: bf16, device: cuda}]\nvariants: [{kernel: dilated_mma, tiles: [union, "
      "aligned]}, {kernel: dilated_simt}]\n",
      "plan.yaml");
  const Plan plan = make_plan(sweep, site);
  const std::vector<PlannedVariant>& variants = plan.comparisons.at(0).variants;
  EXPECT_EQ(variants.at(2).skip, "windows: not on dilated_simt");
  if (variants.at(0).skip) {  // without the code of the kernel
    EXPECT_NE(variants[0].skip->find("this build has no"), std::string::npos) << *variants[0].skip;
    return;
  }
  const double lists = 4 * 212992;
  EXPECT_GT(variants.at(0).own.device, lists);
  ASSERT_TRUE(variants.at(1).pairs);
  EXPECT_NEAR(variants[1].pairs->density, 0.1016, 0.0001);
}

TEST(WindowPlan, BoxesOfTheRasterMustBeTiles) {
  Site site = windows_site();
  site.gpu =
      Gpu{.name = "a GPU", .compute_capability = 90, .multiprocessors = 100, .memory_bytes = 1ll << 36};
  const Sweep sweep = parse_sweep(
      "name: plan\ncases: [{grid: [128, 96], window: [13, 13], heads: 2, head_dim: 64, dtype: bf16, device: "
      "cuda}]\n"
      "variants: [{kernel: boxes_wgmma, order: boxes.8.16, order_tensors: qkv, tiles: aligned}, {kernel: "
      "boxes_wgmma, "
      "order: [boxes.8.8, boxes.2.64, linear], order_tensors: qkv, tiles: aligned}, {kernel: boxes_wgmma, "
      "order: "
      "boxes.8.16, tiles: [aligned, union]}]\n",
      "plan.yaml");
  const std::vector<PlannedVariant> variants = make_plan(sweep, site).comparisons.at(0).variants;
  if (variants.at(0).skip) {
    EXPECT_EQ(variants[0].skip->find("this build has no"), 0u) << *variants[0].skip;
    return;
  }
  EXPECT_EQ(variants.at(1).skip, "boxes_wgmma: boxes have 64 positions, its tiles 128");
  EXPECT_EQ(variants.at(2).skip, "boxes_wgmma: boxes of 64 do not divide 96 positions of the grid");
  EXPECT_EQ(variants.at(3).skip, "boxes_wgmma: its tiles are the boxes of an order boxes.A.B[.C]");
  EXPECT_EQ(variants.at(4).skip, "boxes_wgmma: its queries are boxes too: write order_tensors: qkv");
  const Sweep masked = parse_embedded(
      {.file = "sweeps/windows/points.yaml",
       .text =
           "name: plan\ncases: [{mask: points-raster.npy, grid: [64, 128], heads: 2, head_dim: 64, dtype: "
           "bf16, "
           "device: cuda}]\nvariants: [{kernel: boxes_wgmma, order: boxes.8.16, order_tensors: qkv, tiles: "
           "aligned}]\n"});
  EXPECT_EQ(make_plan(masked, site).comparisons.at(0).variants.at(0).skip,
            "boxes_wgmma: it computes windows on grids, no mask");
}

TEST(WindowPlan, ChoosesTheFasterTiles) {
  Site site = windows_site();
  site.gpu =
      Gpu{.name = "a GPU", .compute_capability = 90, .multiprocessors = 100, .memory_bytes = 1ll << 36};
  const std::string windows =
      "{grid: [128, 96], window: [16, 16], heads: 2, head_dim: 64, dtype: bf16, device: cuda";
  const Sweep sweep = parse_sweep(
      "name: plan\ncases: [" + windows + ", window_stride: [16, 16]}, " + windows +
          "}]\n"
          "variants: [{kernel: [dilated_wgmma, dilated_mma], order: boxes.8.16, order_tensors: qkv}, "
          "{kernel: dilated_wgmma, order: boxes.8.16, order_tensors: qkv, tiles: union}, "
          "{kernel: boxes_wgmma, order: boxes.8.16, order_tensors: qkv}]\n",
      "plan.yaml");
  const Plan plan = make_plan(sweep, site);
  const auto tiles_of = [&](std::size_t comparison, std::size_t variant) {
    return plan.comparisons.at(comparison).variants.at(variant).key_tiles;
  };
  if (const auto& skip = plan.comparisons.at(0).variants.at(0).skip) {
    EXPECT_EQ(skip->find("this build has no"), 0u) << *skip;
    return;
  }
  EXPECT_EQ(tiles_of(0, 0), KeyTiles::aligned);  // windows slide by whole blocks
  EXPECT_EQ(tiles_of(1, 0), KeyTiles::united);   // by single positions
  for (const std::size_t comparison : {0, 1}) {
    EXPECT_EQ(tiles_of(comparison, 1), KeyTiles::united);  // of a kernel that copies rows one by one
    EXPECT_EQ(tiles_of(comparison, 2), KeyTiles::united);  // as asked
    EXPECT_EQ(tiles_of(comparison, 3), KeyTiles::aligned);
    const PlannedVariant& chosen = plan.comparisons.at(comparison).variants.at(0);
    EXPECT_EQ(chosen.variant.kernel().tiles, KeyTiles::automatic);
    EXPECT_EQ(computed_choice(chosen).tiles, chosen.key_tiles);
  }
}

// The lists of a raster take more than those of a curve; what does not fit is skipped before it is counted.
TEST(WindowPlan, KnowsTheMemory) {
  const Planned planned(kGrid, "{kernel: dilated, order: [linear, hilbert], order_tensors: qkv}");
  const double lists = 4 * 212992;
  EXPECT_GT(planned.variant("dilated/linear.qkv").own.device, lists);
  Site small = windows_site();
  small.host.available_memory_bytes = std::int64_t{1} << 20;
  const Planned unfit(kGrid, "{kernel: dilated}", small);
  ASSERT_TRUE(unfit.variant("dilated/linear").skip);
  EXPECT_NE(unfit.variant("dilated/linear").skip->find("does not fit"), std::string::npos);
  EXPECT_FALSE(unfit.variant("dilated/linear").pairs);
  EXPECT_NE(longest_table(planned.sweep, windows_site()).find("windows: the grid gives the length"),
            std::string::npos);
}

}  // namespace
}  // namespace hilbench
