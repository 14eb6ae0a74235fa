// Bytes that each ring algorithm sends: closed forms, and bounds of one algorithm by another.
#include <gtest/gtest.h>

#include <string>

#include "kernels/ring/ring.hpp"
#include "tests/kernels/ring/ring_cases.hpp"
#include "tests/kernels/ring/ring_variants.hpp"

namespace hilbench {
namespace {

// Bytes of K and V in one row, of all heads and batch entries.
double kv_row_bytes(const Case& work) {
  return static_cast<double>(2 * work.batch * work.kv_heads * work.head_dim * dtype_bytes(work.dtype));
}

// One branch over the whole sequence, r divides N / p: exactly 1 / r of the rows are passed around.
TEST(RingBytes, PackedIsOneOverTheDilation) {
  for (const Sharding sharding : kShardings)
    for (const std::int64_t r : {2, 4, 8})
      for (const HeadOffset offset : {HeadOffset::modulo, HeadOffset::contiguous, HeadOffset::none}) {
        Case work{.sequence_length = 1 << 20,
                  .pattern = {{1 << 20, r}},
                  .heads = 8,
                  .kv_heads = 8,
                  .queries = Queries::dense,
                  .head_offset = offset,
                  .ring_size = 4};
        // If the number of ranks divides the dilation, a stream is in one stripe: the
        // other ranks send nothing.
        const bool striped = sharding == Sharding::striped;
        if (striped) work.ring_size = 3;
        if (striped) work.sequence_length = work.pattern[0].segment_length = 3 << 18;
        const double whole = Ring(work, variant_of(RingAlgorithm::ring, sharding)).sent_bytes();
        EXPECT_EQ(whole,
                  static_cast<double>((work.ring_size - 1) * work.sequence_length) * kv_row_bytes(work));
        EXPECT_EQ(Ring(work, variant_of(RingAlgorithm::ring_packed, sharding)).sent_bytes() *
                      static_cast<double>(r),
                  whole);
      }
}

// Causal, contiguous: the shard of rank k goes to the p - 1 - k ranks behind it.
TEST(RingBytes, CausalShardsStopAtTheLastRankThatSeesThem) {
  const Case work{.sequence_length = 4096,
                  .pattern = {{4096, 1}},
                  .heads = 2,
                  .kv_heads = 2,
                  .mask = Mask::causal,
                  .ring_size = 4};
  const Ring ring(work, variant_of(RingAlgorithm::ring));
  EXPECT_EQ(ring.sent_bytes(), (3 + 2 + 1) * 1024 * kv_row_bytes(work));
  EXPECT_EQ(ring.sent_bytes(3), 0);
  EXPECT_EQ(Ring(work, variant_of(RingAlgorithm::allgather)).sent_bytes(), 12 * 1024 * kv_row_bytes(work));
}

// p - 1 transfers of each shard, G - 1 of them between groups; causal shards stop at the last rank.
TEST(RingBytes, GroupsPassEachShardOnceToEachOther) {
  for (const Mask mask : {Mask::full, Mask::causal})
    for (const std::int64_t groups : {1, 2, 4, 8}) {
      const Case work{.sequence_length = 4096,
                      .pattern = {{4096, 1}},
                      .heads = 2,
                      .kv_heads = 2,
                      .mask = mask,
                      .ring_size = 8};
      const std::int64_t size = 8 / groups;
      std::int64_t inside = 0, between = 0;
      for (std::int64_t group = 0; group < groups; ++group)
        for (std::int64_t place = 0; place < size; ++place) {
          const std::int64_t further = mask == Mask::full ? groups - 1 : groups - 1 - group;
          between += further;
          inside += further * (size - 1) + (mask == Mask::full ? size - 1 : size - 1 - place);
        }
      const Ring ring(work, grouped(RingAlgorithm::hierarchical, groups));
      const double shard = 512 * kv_row_bytes(work);
      EXPECT_EQ(ring.level_bytes().inside, static_cast<double>(inside) * shard) << groups;
      EXPECT_EQ(ring.level_bytes().between, static_cast<double>(between) * shard) << groups;
      const Ring plain(work, grouped(RingAlgorithm::ring, groups));
      EXPECT_EQ(ring.sent_bytes(), plain.sent_bytes());
      EXPECT_LE(ring.level_bytes().between, plain.level_bytes().between);
    }
}

// (p - 1) / p of Q, K, V, O and LSE, whatever the pattern; for shards that differ, row by row.
TEST(RingBytes, UlyssesSendsHeads) {
  for (const std::int64_t dilation : {1, 4}) {
    Case work{.sequence_length = 4096,
              .pattern = {{4096, dilation}},
              .batch = 2,
              .heads = 8,
              .kv_heads = 4,
              .ring_size = 4};
    const Variant variant = variant_of(RingAlgorithm::ulysses);
    const double q_row = 2 * 8 * 64 * 4, kv_row = 2 * 2 * 4 * 64 * 4, lse_row = 2 * 8 * 4;
    EXPECT_EQ(Ring(work, variant).sent_bytes(), 4096 * (2 * q_row + kv_row + lse_row) * 3 / 4);
    work.sequence_length = 4097;
    const Ring uneven(work, variant);  // rank 0 has a row more
    EXPECT_EQ(uneven.sent_bytes(0) - uneven.sent_bytes(1), (q_row + kv_row) * 3 / 4 - (q_row + lse_row) / 4);
    EXPECT_EQ(uneven.sent_bytes(), 4097 * (2 * q_row + kv_row + lse_row) * 3 / 4);
  }
}

TEST(RingBytes, NoSegmentAcrossShardsIsLocal) {
  Case work{.sequence_length = 4096, .pattern = {{1024, 1}, {512, 2}}, .kv_heads = 8, .ring_size = 4};
  for (const RingAlgorithm algorithm : kRingAlgorithms) {
    const Ring ring(work, variant_of(algorithm));
    EXPECT_EQ(ring.algorithm(), RingAlgorithm::local);
    EXPECT_EQ(ring.sent_bytes(), 0);
    EXPECT_EQ(ring.memory(0).buffers, 0);
  }
  work.sequence_length = 4097;
  EXPECT_EQ(Ring(work, variant_of(RingAlgorithm::automatic)).algorithm(), RingAlgorithm::ring);
}

// If packing saves nothing, the whole shard is sent.
TEST(RingBytes, PackedNeverSendsMoreThanTheRing) {
  Random random(7);
  for (int i = 0; i < 300; ++i) {
    const Case work = random_ring_case(random, 4, 200);
    const Sharding sharding = kShardings[static_cast<std::size_t>(i) % kShardings.size()];
    EXPECT_LE(Ring(work, variant_of(RingAlgorithm::ring_packed, sharding)).sent_bytes(),
              Ring(work, variant_of(RingAlgorithm::ring, sharding)).sent_bytes());
    EXPECT_LE(Ring(work, variant_of(RingAlgorithm::allgather_packed, sharding)).sent_bytes(),
              Ring(work, variant_of(RingAlgorithm::allgather, sharding)).sent_bytes());
    EXPECT_LE(Ring(work, grouped(RingAlgorithm::hierarchical_packed, 2, sharding)).sent_bytes(),
              Ring(work, grouped(RingAlgorithm::hierarchical, 2, sharding)).sent_bytes());
  }
}

// The same rows as ring_packed in all, and of these at least as many inside the groups.
TEST(RingBytes, PackedGroupsSendOneOverTheDilation) {
  for (const std::int64_t dilation : {1, 2, 8}) {
    const Case work{.sequence_length = 4096,
                    .pattern = {{4096, dilation}},
                    .heads = 2,
                    .kv_heads = 2,
                    .head_offset = HeadOffset::none,
                    .ring_size = 8};
    const Ring whole(work, grouped(RingAlgorithm::hierarchical, 2));
    const Ring packed(work, grouped(RingAlgorithm::hierarchical_packed, 2));
    const Ring flat(work, grouped(RingAlgorithm::ring_packed, 2));
    const auto over = static_cast<double>(dilation);
    EXPECT_EQ(packed.level_bytes().inside, whole.level_bytes().inside / over);
    EXPECT_EQ(packed.level_bytes().between, whole.level_bytes().between / over);
    EXPECT_EQ(packed.sent_bytes(), flat.sent_bytes());
    EXPECT_LT(packed.level_bytes().between, flat.level_bytes().between);
  }
}

// Bytes in units of a shard's K and V, for full attention over one segment: p ranks in G groups.
TEST(RingBytes, EveryAlgorithmHasAClosedFormInsideAndBetweenGroups) {
  for (const std::int64_t groups : {1, 2, 4, 8}) {
    const std::int64_t p = 8, size = p / groups;
    const Case work{
        .sequence_length = 4096, .pattern = {{4096, 1}}, .heads = 8, .kv_heads = 8, .ring_size = p};
    const double shard = 512 * kv_row_bytes(work);
    const auto expect = [&](RingAlgorithm algorithm, double inside, double between) {
      SCOPED_TRACE(std::string(to_string(algorithm)) + " " + std::to_string(groups));
      const LevelBytes bytes = Ring(work, grouped(algorithm, groups)).level_bytes();
      EXPECT_EQ(bytes.inside, inside);
      EXPECT_EQ(bytes.between, between);
    };
    const auto G = static_cast<double>(groups), P = static_cast<double>(p), S = static_cast<double>(size);
    // A border of groups is crossed by every transfer from its rank: P - 1 of them at each of G borders.
    const double borders = groups == 1 ? 0 : G;
    for (const RingAlgorithm flat : {RingAlgorithm::ring, RingAlgorithm::ring_packed})
      expect(flat, (P - borders) * (P - 1) * shard, borders * (P - 1) * shard);
    for (const RingAlgorithm gathered : {RingAlgorithm::allgather, RingAlgorithm::allgather_packed})
      expect(gathered, P * (S - 1) * shard, P * (P - S) * shard);
    for (const RingAlgorithm of_groups : {RingAlgorithm::hierarchical, RingAlgorithm::hierarchical_packed})
      expect(of_groups, P * G * (S - 1) * shard, P * (G - 1) * shard);
    const double pair = 512 * (2 * kv_row_bytes(work) / 8 + 4);  // Q, K, V, O and LSE of one head
    expect(RingAlgorithm::ulysses, P * (S - 1) * pair, P * (P - S) * pair);
  }
}

// 2^40 positions in segments of 2048: nothing is built.
TEST(RingBytes, AnyLengthInNoTime) {
  for (const Sharding sharding : kShardings) {
    const Case work{.sequence_length = (std::int64_t{1} << 40) + 1,
                    .pattern = {{2048, 1}, {65536, 8}, {std::int64_t{1} << 40, 1 << 20}},
                    .heads = 64,
                    .kv_heads = 64,
                    .mask = Mask::causal,
                    .ring_size = 16};
    const Ring ring(work, variant_of(RingAlgorithm::ring_packed, sharding));
    EXPECT_GT(ring.sent_bytes(), 0);
    EXPECT_GT(ring.memory(1).total(), 0);
  }
}

}  // namespace
}  // namespace hilbench
