#include "harness/plan/memory.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/plan/plan_tables.hpp"
#include "kernels/case/windows.hpp"
#include "kernels/ring/ring_walk.hpp"
#include "tests/harness/plan/planning.hpp"

namespace hilbench {
namespace {

constexpr double kGib = 0x1p30;

Case case_of(std::int64_t length) {
  return {.sequence_length = length,
          .pattern = {{2048, 1}, {4096, 2}, {8192, 4}},
          .heads = 8,
          .kv_heads = 8,
          .head_dim = 64,
          .dtype = Dtype::fp16,
          .device = DeviceKind::cuda};
}

// Like a GPU kernel of two branches or more: an fp32 copy of O, tiles of 192 queries.
const Implementation kKernel = {
    .name = "kernel",
    .device = DeviceKind::cuda,
    .tile_rows = [](const Case&) -> std::int64_t { return 192; },
    .workspace_bytes =
        [](const Case& work, int) {
          return 4.0 * static_cast<double>(work.sequence_length * work.heads * work.head_dim);
        },
};

Site gpu_site(std::int64_t gpu_bytes, std::int64_t host_bytes) {
  Site site;
  site.host.available_memory_bytes = host_bytes;
  site.gpu = Gpu{.name = "GPU", .memory_bytes = gpu_bytes};
  return site;
}

double device_bytes(const Case& work, const Variant& variant) {
  return (shared_need(work, {}) + unplanned_need(work, variant, kKernel, 1, 1)).device;
}

TEST(MemoryNeed, CountsWhatStandsOnAGpu) {
  // A position of 8 heads x 64: Q, K, V, O in fp16, LSE, O in fp32, and less than 4 bytes of tiles.
  const double position = 4 * 8 * 64 * 2 + 8 * 4 + 8 * 64 * 4;
  const double linear = device_bytes(case_of(1 << 20), {});
  EXPECT_GE(linear, position * (1 << 20));
  EXPECT_LE(linear, (position + 4) * (1 << 20));
  const Variant hilbert{KernelChoice{.order = "hilbert"}};
  // Permuted K and V, the map of the permutation, and the slot of every key of three branches.
  EXPECT_EQ(device_bytes(case_of(1 << 20), hilbert) - linear, (2 * 8 * 64 * 2 + 4 + 3 * 4) * double{1 << 20});
}

TEST(MemoryNeed, OfTheHostHardlyGrowsWithTheSequence) {
  const MemoryNeed shorter = shared_need(case_of(1 << 20), {}), longer = shared_need(case_of(1 << 25), {});
  EXPECT_EQ(shorter.host, longer.host);
  EXPECT_LT(longer.host, 0.3 * kGib);
  const Inputs files{.source = InputSource::npy};
  EXPECT_GT(shared_need(case_of(1 << 25), files).host, 3 * 4.0 * 8 * 64 * (1 << 25));
}

TEST(MemoryNeed, OfAnExternalProgramIsFilesInHostMemory) {
  Implementation program = kKernel;
  program.external = true;
  program.tile_rows = nullptr;
  const Case work = case_of(1 << 20);
  const double tensor = 8.0 * 64 * (1 << 20);
  EXPECT_EQ(own_need(work, {}, program, 1).host, 3 * 2 * tensor + 4 * tensor);
  EXPECT_EQ(input_files_need(work).host, 3 * 2 * tensor);
  EXPECT_EQ(input_files_need(work).device, 0);
}

TEST(MemoryNeed, CountsTheStretchesOfAPersistentRing) {
  Case work = case_of(1 << 15);
  work.ring_size = 2;
  Variant variant{KernelChoice{.name = "kernel"}};
  variant.ring.algorithm = RingAlgorithm::ring;
  variant.ring.sharding = Sharding::contiguous;
  variant.ring.launch = RingLaunch::persistent;
  work.pattern = {{1 << 15, 1}, {1 << 14, 2}};
  const Ring ring(work, variant);
  ASSERT_TRUE(ring.persistent());
  Case one = work;
  one.ring_size = 1;
  KernelChoice by_table = variant.kernel();
  by_table.order = "random";
  by_table.key_visit = KeyVisit::slot;
  const MemoryNeed need = ring_need(ring, kKernel, 1, 2);
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    double stretches = 0;
    for (const WalkBranch& branch : ring_walk(ring, rank, 192, CausalTraversal::head_major).branches)
      stretches += static_cast<double>(branch.stretches.size());
    EXPECT_GT(stretches, 200);
    EXPECT_GE(need.device,
              ring.memory(rank).total() + device_index_bytes(one, by_table, 192) + 32 * stretches);
    EXPECT_GE(need.host, 2 * index_bytes(one, by_table, 192) + 2 * 24 * stretches);
  }
}

// The host holds the masks of windows once, and a GPU gets them in parts; lists are there twice.
TEST(MemoryNeed, OfTheHostHoldsMasksOnce) {
  Case work = case_of(1 << 14);
  work.windows = {{.extent = 128, .window = 63}, {.extent = 128, .window = 63}};
  fill_in_windows(work);
  const auto need = [&](std::int64_t masks, std::int64_t keys) {
    return own_need(work, {}, kKernel, 1, TileCounts{.keys = keys, .masks = masks});
  };
  constexpr double kMask = sizeof(BlockMask);
  EXPECT_EQ((need(101, 0) - need(1, 0)).host, 2 * 100 * kMask);
  EXPECT_EQ((need(1 << 20, 0) - need(1 << 19, 0)).host, (1 << 19) * kMask);
  EXPECT_EQ((need(1 << 20, 0) - need(1 << 19, 0)).device, (1 << 19) * kMask);
  EXPECT_EQ((need(1, 1000) - need(1, 0)).host, 2 * 4.0 * 1000);
}

TEST(MemoryNeed, LongestSequenceFitsAndOneStepMoreDoesNot) {
  const Site site = gpu_site(std::int64_t{8} << 30, std::int64_t{64} << 30);
  const std::int64_t longest = longest_sequence(case_of(1), {}, {}, kKernel, 1, site);
  EXPECT_GT(longest, 1'000'000);
  EXPECT_EQ(longest % 8192, 0);
  const MemoryNeed usable = usable_memory(case_of(1), site);
  EXPECT_LE(device_bytes(case_of(longest), {}), usable.device);
  EXPECT_GT(device_bytes(case_of(longest + 8192), {}), usable.device);
}

TEST(MemoryNeed, LongestSequenceMayBeShorterThanASegment) {
  Case work = case_of(1);
  work.pattern = {{std::int64_t{1} << 30, 1}};
  const Site site = gpu_site(std::int64_t{8} << 30, std::int64_t{64} << 30);
  const std::int64_t longest = longest_sequence(work, {}, {}, kKernel, 1, site);
  EXPECT_GT(longest, 1'000'000);
  EXPECT_LT(longest, std::int64_t{1} << 30);
  const auto fits = [&](std::int64_t length) {
    work.sequence_length = length;
    return !why_not_fit(shared_need(work, {}) + own_need(work, {}, kKernel, 1), usable_memory(work, site));
  };
  EXPECT_TRUE(fits(longest));
  EXPECT_FALSE(fits(longest + 1));
}

TEST(MemoryNeed, NamedMemoryStandsForThatOfTheDevice) {
  Site site = gpu_site(std::int64_t{80} << 30, std::int64_t{64} << 30);
  site.named_memory_bytes = std::int64_t{8} << 30;
  EXPECT_EQ(usable_memory(case_of(1), site).device, 7 * kGib);
  EXPECT_EQ(usable_memory(case_of(1), site).host, 0.9 * 64 * kGib);
  Case on_cpu = case_of(1);
  on_cpu.device = DeviceKind::cpu;
  EXPECT_EQ(usable_memory(on_cpu, site).device, 0.9 * 8 * kGib);
}

TEST(MemoryNeed, LongestSequenceIsNoneWhereNothingFitsAndEndsAt32Bits) {
  EXPECT_EQ(longest_sequence(case_of(1), {}, {}, kKernel, 1, gpu_site(1 << 20, 0)), 0);
  const std::int64_t endless =
      longest_sequence(case_of(1), {}, {}, kKernel, 1, gpu_site(std::int64_t{1} << 50, 0));
  EXPECT_LE(endless, kMostPositions);
  EXPECT_GT(endless, kMostPositions - 8192);
}

TEST(MemoryNeed, OfTheHostRefusesTooWhereTheGpuHasRoom) {
  const Case work = case_of(1 << 20);
  const Site site = gpu_site(std::int64_t{80} << 30, 1 << 20);
  const std::optional<std::string> reason = why_not_fit(shared_need(work, {}), usable_memory(work, site));
  ASSERT_TRUE(reason);
  EXPECT_NE(reason->find("host memory"), std::string::npos) << *reason;
}

TEST(LongestTable, TellsEachPatternOnceAtItsLongest) {
  Site site;
  site.host.cores = 2;
  site.host.available_memory_bytes = std::int64_t{1} << 30;
  const Sweep sweep = parse_sweep(
      "name: longest\ncases:\n"
      "  - {sequence_length: 4096, segments: [2048]}\n  - {sequence_length: 8192, segments: [2048]}\n"
      "variants: [{kernel: dilated, order: [linear, hilbert]}]\n",
      "longest.yaml");
  const std::string table = longest_table(sweep, site);
  std::size_t lines = 0;
  for (std::size_t at = table.find("/dilated/"); at != std::string::npos;
       at = table.find("/dilated/", at + 1))
    ++lines;
  EXPECT_EQ(lines, 2u) << table;
}

// Held per row and head: statistics 8 d + 4 bytes, inputs 6 d, if K and V have as many heads (bf16).
TEST(Memory, SaysWhatAStepOfATrainingHolds) {
  const auto step = [](const std::string& pass, const std::string& saved) {
    return planned("segments: [2048], dtype: bf16, heads: 4, head_dim: 32, pass: " + pass,
                   "kernel: dilated, saved: " + saved, planning_site());
  };
  const double rows = 4096.0 * 4;
  for (const std::string pass : {"backward", "both"}) {
    const PlannedVariant statistics = step(pass, "statistics"), inputs = step(pass, "inputs");
    ASSERT_FALSE(inputs.skip) << *inputs.skip;
    EXPECT_EQ(*statistics.held_bytes, rows * (8 * 32 + 4));
    EXPECT_EQ(*inputs.held_bytes, rows * 6 * 32);
    EXPECT_EQ(inputs.variant_id, "dilated/linear.inputs");
    EXPECT_EQ(inputs.flops, statistics.flops) << "what is computed again is not credited";
    EXPECT_EQ(*inputs.peak_bytes, *statistics.peak_bytes) << "of one step alone";
    EXPECT_GT(*statistics.peak_bytes, rows * (16 * 32 + 4)) << "eight tensors, LSE and the workspace";
    EXPECT_GE(*inputs.memory_bytes, *statistics.memory_bytes);
  }
  EXPECT_FALSE(step("forward", "statistics").held_bytes);
  expect_skipped(step("forward", "inputs"), "saved: a forward pass alone keeps nothing");
}

TEST(Plan, SkipsDropoutWhereNothingDropsPairs) {
  const Comparison comparison = comparison_of("sequence_length: 4096, segments: [2048], dropout: 0.125");
  EXPECT_FALSE(comparison.variants[0].skip);
  EXPECT_FALSE(comparison.variants[1].skip);
  expect_skipped(comparison.variants[2], "dropout: not on gemm");
  EXPECT_FALSE(comparison.variants[3].skip) << "peak computes no attention";
  EXPECT_FALSE(comparison_of("sequence_length: 64, dropout: 0.001").variants[2].skip) << "nothing is dropped";
  const auto dilated = [](const std::string& more, const std::string& variant = "kernel: dilated") {
    return planned("segments: [2048], dropout: 0.125" + more, variant, planning_site());
  };
  expect_skipped(dilated(", ring_size: 2"), "dropout: not on rings");
  expect_skipped(dilated("", "kernel: dilated, order: hilbert, order_scope: tokens"),
                 "dropout: pairs are dropped");
  expect_skipped(comparison_of("grid: [8, 8], window: [3, 3], dropout: 0.5").variants[0],
                 "dropout: not with windows or masks");
}

}  // namespace
}  // namespace hilbench
