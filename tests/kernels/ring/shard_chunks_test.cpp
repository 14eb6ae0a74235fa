#include "kernels/ring/shard_chunks.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/kernels/ring/ring_cases.hpp"

namespace hilbench {
namespace {

Ring ring_of_four(RingAlgorithm algorithm = RingAlgorithm::ring, Mask mask = Mask::full) {
  const Case work{.sequence_length = 16384,
                  .pattern = {{16384, 1}},
                  .batch = 2,
                  .heads = 16,
                  .kv_heads = 16,
                  .head_dim = 128,
                  .dtype = Dtype::bf16,
                  .mask = mask,
                  .ring_size = 4};
  Variant variant{KernelChoice{.name = "dilated"}};
  variant.ring.algorithm = algorithm;
  variant.ring.launch = RingLaunch::persistent;
  variant.ring.sharding = Sharding::contiguous;
  return Ring(work, variant);
}

// 4096 rows of 4 heads of 256 bytes: lines of 1 KiB, and 4 MiB of K. Lines are longer beside less work.
TEST(ShardChunks, OfLinesAreLongEnough) {
  const ShardChunks chunks = shard_chunks(ring_of_four(), ChunkShape::lines);
  EXPECT_EQ(chunks.heads, 4);
  EXPECT_EQ(chunks.head_chunks, 4);
  EXPECT_EQ(chunks.count(2), 8);
  EXPECT_EQ(shard_chunks(ring_of_four(RingAlgorithm::ring, Mask::causal), ChunkShape::lines).heads, 8);
  Case dilated = ring_of_four().work();
  dilated.pattern.front().dilation = 2;
  EXPECT_EQ(shard_chunks(Ring(dilated, ring_of_four().variant()), ChunkShape::lines).heads, 8);
  EXPECT_EQ(
      shard_chunks(ring_of_four(), ChunkShape::lines, {.least_line_bytes = 1, .least_bytes = 3 << 20}).heads,
      3);
}

// 1 MiB of K a head, whatever there is to compute.
TEST(ShardChunks, OfWholeHeadsAreLongEnough) {
  EXPECT_EQ(shard_chunks(ring_of_four(), ChunkShape::whole_heads).heads, 4);
  EXPECT_EQ(shard_chunks(ring_of_four(RingAlgorithm::ring, Mask::causal), ChunkShape::whole_heads).heads, 4);
  EXPECT_EQ(
      shard_chunks(ring_of_four(), ChunkShape::whole_heads, {.least_bytes_of_whole_heads = 7 << 20}).heads,
      7);
  EXPECT_EQ(
      shard_chunks(ring_of_four(), ChunkShape::whole_heads, {.least_bytes_of_whole_heads = 1 << 30}).heads,
      16);
}

// Every head of every batch entry is in one chunk, with all rows of the shard.
TEST(ShardChunks, CoverEachShardOnce) {
  Random random(4);
  for (int i = 0; i < 300; ++i) {
    Case work = random_ring_case(random, 3, 200);
    Variant variant = random_ring_variant(
        random, 3, one_of(random, {RingAlgorithm::ring, RingAlgorithm::ring_packed}), Sharding::zigzag);
    variant.ring.launch = RingLaunch::persistent;
    const Ring ring(work, variant);
    const ShardChunks chunks =
        shard_chunks(ring, one_of(random, {ChunkShape::lines, ChunkShape::whole_heads}),
                     {1, between(random, 1, 5000), between(random, 1, 5000)});
    for (std::int64_t source = 0; source < 3; ++source) {
      std::vector<int> times(static_cast<std::size_t>(work.batch * work.kv_heads), 0);
      for (std::int64_t number = 0; number < chunks.count(work.batch); ++number) {
        const ShardChunk chunk = shard_chunk(ring, chunks, source, number);
        EXPECT_EQ(chunk.rows, ring.sent_rows(source));
        EXPECT_LT(chunk.first_head, chunk.end_head);
        for (std::int64_t head = chunk.first_head; head < chunk.end_head; ++head) {
          ++times[static_cast<std::size_t>(chunk.batch * work.kv_heads + head)];
          // As a kernel finds the chunk of a head.
          EXPECT_EQ(number, chunk.batch * chunks.head_chunks + head / chunks.heads);
        }
      }
      EXPECT_TRUE(std::all_of(times.begin(), times.end(), [](int count) { return count == 1; }));
    }
  }
}

// Chunk 0 of all shards, then chunk 1; what is passed on follows a round later.
TEST(ChunkExchanges, BringHeadsOfAllShardsInTurn) {
  using After = Transport::After;
  const ShardChunks chunks = shard_chunks(ring_of_four(), ChunkShape::lines);
  const auto direct = chunk_exchanges(ring_of_four(RingAlgorithm::allgather), chunks);
  const auto passing = chunk_exchanges(ring_of_four(RingAlgorithm::ring), chunks);
  for (const auto* exchanges : {&direct, &passing}) {
    ASSERT_EQ(exchanges->size(), 3u * 8);  // of two batch entries
    for (const ChunkExchange& exchange : *exchanges)
      EXPECT_EQ(exchange.after, exchanges == &passing && exchange.step > 0 ? After::arrivals : After::stream);
  }
  const auto at = [](const std::vector<ChunkExchange>& exchanges, std::size_t number) {
    return std::pair{exchanges[number].step, exchanges[number].chunk};
  };
  EXPECT_EQ(at(direct, 1), (std::pair<std::int64_t, std::int64_t>{1, 0}));
  EXPECT_EQ(at(direct, 3), (std::pair<std::int64_t, std::int64_t>{0, 1}));
  EXPECT_EQ(at(passing, 1), (std::pair<std::int64_t, std::int64_t>{0, 1}));
  EXPECT_EQ(at(passing, 2), (std::pair<std::int64_t, std::int64_t>{1, 0}));
  EXPECT_EQ(at(passing, 23), (std::pair<std::int64_t, std::int64_t>{2, 7}));
}

// The nearest rank's shard is the first, and each has a buffer of its own.
TEST(PersistentRing, VisitsShardsInTheSequenceOfTheirArrival) {
  for (const RingAlgorithm algorithm : {RingAlgorithm::ring, RingAlgorithm::allgather}) {
    const Ring ring = ring_of_four(algorithm);
    const auto steps = ring.steps(1);
    ASSERT_EQ(steps.size(), 4u);
    const std::int64_t sources[] = {1, 0, 3, 2};
    for (std::size_t s = 0; s < 4; ++s) {
      ASSERT_EQ(steps[s].sources.size(), 1u);
      EXPECT_EQ(steps[s].sources[0].rank, sources[s]);
      EXPECT_EQ(steps[s].sources[0].buffer, static_cast<int>(s) - 1);
    }
    EXPECT_EQ(ring.memory(1).buffers, 3 * 2 * 4096.0 * 2 * 16 * 256);
    EXPECT_EQ(ring.memory(1).fp32_output, 0) << "one launch makes the result";
    Variant over_nccl = ring.variant();
    over_nccl.ring.transport = TransportKind::nccl;
    EXPECT_EQ(Ring(ring.work(), over_nccl).memory(1).buffers, 4 * 2 * 4096.0 * 2 * 16 * 256)
        << "and a copy of what it sends";
    Variant in_steps = ring.variant();
    in_steps.ring.launch = RingLaunch::steps;
    EXPECT_EQ(ring.sent_bytes(), Ring(ring.work(), in_steps).sent_bytes());
  }
}

// Rank 0 sees no other shard; rank 1 sees that of rank 0.
TEST(PersistentRing, MovesNothingThatACausalMaskHides) {
  const Ring passing = ring_of_four(RingAlgorithm::ring, Mask::causal);
  EXPECT_EQ(passing.buffer_rows(0).size(), 0u);
  EXPECT_EQ(passing.buffer_rows(1).size(), 1u);
  EXPECT_EQ(ring_of_four(RingAlgorithm::allgather_packed, Mask::causal).buffer_rows(1).size(), 1u);
  EXPECT_EQ(ring_of_four(RingAlgorithm::allgather, Mask::causal).buffer_rows(1).size(), 3u);
}

TEST(PersistentRing, RefusesWhatComputesInSteps) {
  const Case work{.sequence_length = 64, .pattern = {{64, 1}}, .heads = 4, .kv_heads = 4, .ring_size = 4};
  Variant variant{KernelChoice{.name = "dilated"}};
  variant.ring.launch = RingLaunch::persistent;
  EXPECT_EQ(why_not_ring(work, variant), std::nullopt);
  variant.ring.groups = 2;
  for (const RingAlgorithm algorithm :
       {RingAlgorithm::hierarchical, RingAlgorithm::hierarchical_packed, RingAlgorithm::ulysses}) {
    variant.ring.algorithm = algorithm;
    const std::string reason = why_not_ring(work, variant).value_or("");
    EXPECT_NE(
        reason.find("ring_launch persistent: " + std::string(to_string(algorithm)) + " computes in steps"),
        std::string::npos)
        << reason;
  }
  variant.ring.algorithm = RingAlgorithm::ring;
  variant.change().traversal = "sawtooth_tile";
  EXPECT_NE(why_not_ring(work, variant).value_or("").find("never backwards"), std::string::npos);
}

}  // namespace
}  // namespace hilbench
