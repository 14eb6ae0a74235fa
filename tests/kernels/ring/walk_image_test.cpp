// The tables that a CUDA kernel reads, against the index that they stand for. Needs no GPU.
#include "kernels/cuda/shared/walk_image.hpp"

#include <gtest/gtest.h>

#include "kernels/ring/ring_walk.hpp"
#include "tests/kernels/ring/ring_cases.hpp"

namespace hilbench {
namespace {

Variant persistent(RingAlgorithm algorithm, Sharding sharding, const std::string& order = "linear") {
  Variant variant{KernelChoice{.name = "dilated", .order = order}};
  variant.ring.algorithm = algorithm;
  variant.ring.launch = RingLaunch::persistent;
  variant.ring.sharding = sharding;
  return variant;
}

std::optional<cuda::WalkStrides> strides_of(const Variant& variant) {
  const Case work{.sequence_length = 512, .pattern = {{512, 4}}, .heads = 2, .kv_heads = 2, .ring_size = 4};
  const Walk walk = ring_walk(Ring(work, variant), 1, 16, CausalTraversal::head_major);
  return cuda::walk_strides(walk.branches.front(), variant.kernel().rows);
}

// Packed rows are neighbours, those of the own shard are not.
TEST(WalkStrides, DifferIfReceivedShardsArePacked) {
  const auto whole = strides_of(persistent(RingAlgorithm::ring, Sharding::contiguous));
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->own, 4);
  EXPECT_EQ(whole->received, 4);
  const auto packed = strides_of(persistent(RingAlgorithm::ring_packed, Sharding::contiguous));
  ASSERT_TRUE(packed);
  EXPECT_EQ(packed->own, 4);
  EXPECT_EQ(packed->received, 1);
  EXPECT_EQ(strides_of(persistent(RingAlgorithm::ring, Sharding::contiguous, "random")), std::nullopt);
  EXPECT_EQ(strides_of(persistent(RingAlgorithm::ring_packed, Sharding::contiguous, "random")), std::nullopt)
      << "one table for all";
}

TEST(WalkTables, SayWhatTheIndexSays) {
  Random random(12);
  int strided = 0;
  for (int i = 0; i < 400; ++i) {
    const std::int64_t ranks = between(random, 2, 5);
    const RingAlgorithm algorithm =
        one_of(random, {RingAlgorithm::ring, RingAlgorithm::allgather, RingAlgorithm::ring_packed});
    Case work = random_ring_case(random, ranks, 900);
    Variant variant = random_ring_variant(random, ranks, algorithm, kShardings[random() % kShardings.size()]);
    variant.ring.launch = RingLaunch::persistent;
    if (between(random, 0, 1) == 0) variant.change().order = "linear";
    if (variant.kernel().traversal == "sawtooth") variant.change().traversal = "auto";
    const Ring ring(work, variant);
    if (!ring.persistent()) continue;
    const std::int64_t rank = between(random, 0, ranks - 1);
    if (ring.computed_rows(rank) == 0) continue;
    const Walk walk = ring_walk(ring, rank, 32, CausalTraversal::longest_first);
    const auto block_keys = one_of<std::int32_t>(random, {80, 112, 128});
    for (const WalkBranch& branch : walk.branches) {
      const std::vector<cuda::ForwardTile> tiles = cuda::walk_tiles(branch, block_keys);
      const std::vector<cuda::KeyStretch> stretches = cuda::walk_stretches(branch);
      const auto strides = cuda::walk_strides(branch, variant.kernel().rows);
      strided += strides.has_value() ? 1 : 0;
      ASSERT_EQ(tiles.size(), branch.tiles.size());
      ASSERT_EQ(stretches.size(), branch.stretches.size() + 1);
      for (std::size_t t = 0; t < tiles.size(); ++t) {
        std::int32_t keys = 0, blocks = 0, before = -1;
        for (std::int32_t s = 0; s < branch.tiles[t].stretches; ++s) {
          const cuda::KeyStretch& stretch = stretches[static_cast<std::size_t>(tiles[t].key_begin + s)];
          EXPECT_GT(stretch.key_count, 0);
          EXPECT_GT(stretch.source, before) << "the own shard first, then as they arrive";
          EXPECT_LE(stretch.source, walk.sources);
          before = stretch.source;
          keys += stretch.key_count;
          blocks += (stretch.key_count + block_keys - 1) / block_keys;
          const std::int64_t rows = stretch.source == 0 ? walk.kv_rows : walk.received_rows;
          for (std::int32_t j = 0; j < stretch.key_count; ++j) {
            const auto key = static_cast<std::size_t>(stretch.key_begin + j);
            EXPECT_LT(branch.key_slot[key], rows);
            const std::int32_t slot = branch.key_slot[key], position = branch.key_position[key];
            const std::int32_t step = !strides ? 0 : stretch.source == 0 ? strides->own : strides->received;
            EXPECT_TRUE(!strides || stretch.key_slot + j * step == slot);
            EXPECT_TRUE(stretch.unmasked == stretch.key_count || !branch.keys_by_step ||
                        stretch.key_position + j * branch.key_step == position);
            EXPECT_TRUE(j >= stretch.unmasked || work.mask == Mask::full ||
                        position <= branch.tiles[t].query_row);
          }
          if (HasFailure()) FAIL() << described(work, variant) << " rank " << rank;
        }
        EXPECT_EQ(keys, branch.tiles[t].key_count);
        EXPECT_EQ(tiles[t].key_count, block_keys * blocks);
      }
    }
  }
  EXPECT_GT(strided, 100);
}

}  // namespace
}  // namespace hilbench
