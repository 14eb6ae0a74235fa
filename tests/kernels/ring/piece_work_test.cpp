#include "kernels/ring/piece_work.hpp"

#include <gtest/gtest.h>

#include "kernels/case/pattern.hpp"
#include "kernels/ring/ring_index.hpp"
#include "tests/kernels/ring/ring_cases.hpp"

namespace hilbench {
namespace {

// What a kernel computes, counted tile by tile and key by key.
PieceWork work_of(const Ring& ring, const Index& index) {
  PieceWork work;
  for (const BranchIndex& branch : index.branches)
    for (const IndexTile& tile : branch.tiles)
      for (std::int64_t row = tile.query_row; row <= tile.last_row(); row += tile.query_step) {
        double keys = 0;
        for (std::int32_t i = 0; i < tile.key_count; ++i)
          keys += ring.work().mask == Mask::full ||
                  branch.key_position[static_cast<std::size_t>(tile.key_begin + i)] <= row;
        work.pairs += keys;
        work.rows += keys > 0;
      }
  return work;
}

TEST(PieceWork, CountsWhatTheIndexHolds) {
  Random random(20);
  for (int draw = 0; draw < 400; ++draw) {
    const Case work = random_ring_case(random, one_of(random, {1, 2, 3, 4, 5, 8}), 150);
    const Sharding sharding = kShardings[static_cast<std::size_t>(draw) % kShardings.size()];
    Variant variant = random_ring_variant(random, work.ring_size, RingAlgorithm::ring, sharding);
    variant.ring.order_span = OrderSpan::shard;
    const Ring ring(work, variant);
    const std::vector<PieceWork> counted = piece_works(ring);
    for (std::int64_t rank = 0; rank < ring.ranks(); ++rank)
      for (std::int64_t source = 0; source < ring.ranks(); ++source) {
        const PieceWork& piece = counted[static_cast<std::size_t>(rank * ring.ranks() + source)];
        if (rank != source && !ring.sees(rank, source)) {
          ASSERT_EQ(piece.pairs, 0) << described(work, variant);
          continue;
        }
        const FirstPiece first = rank == source ? FirstPiece::yes : FirstPiece::no;
        const PieceWork held = work_of(ring, ring_index(ring, rank, source, first, 16));
        ASSERT_EQ(piece.pairs, held.pairs)
            << described(work, variant) << " rank " << rank << " source " << source;
        ASSERT_EQ(piece.rows, held.rows)
            << described(work, variant) << " rank " << rank << " source " << source;
      }
  }
}

TEST(PieceWork, AddsUpToTheCaseWhateverTheOrderSpan) {
  Random random(21);
  for (int draw = 0; draw < 200; ++draw) {
    const Case work = random_ring_case(random, one_of(random, {1, 2, 3, 4, 5, 8}), 5000);
    const Variant variant =
        random_ring_variant(random, work.ring_size, RingAlgorithm::ring,
                            kShardings[static_cast<std::size_t>(draw) % kShardings.size()]);
    double pairs = 0;
    for (const PieceWork& piece : piece_works(Ring(work, variant))) pairs += piece.pairs;
    const double all = count_work(work).pairs;
    ASSERT_NEAR(pairs, all, 1e-9 * all) << described(work, variant);
  }
}

TEST(PieceWork, TakesTheLengthsThatCasesMayHave) {
  Case work{.sequence_length = 512'000'000, .pattern = {{512'000'000, 4}, {8192, 2}}, .ring_size = 64};
  work.kv_heads = work.heads;
  work.mask = Mask::causal;
  for (const Sharding sharding : kShardings) {
    Variant variant{KernelChoice{.name = "dilated"},
                    {.algorithm = RingAlgorithm::ring, .sharding = sharding}};
    double pairs = 0;
    for (const PieceWork& piece : piece_works(Ring(work, variant))) pairs += piece.pairs;
    const double all = count_work(work).pairs;
    EXPECT_NEAR(pairs, all, 1e-9 * all);
  }
}

TEST(PieceWork, ALaunchForEachBranchOfAPiece) {
  Case work{.sequence_length = 1024, .pattern = {{256, 1}, {1024, 4}}, .ring_size = 4};
  work.kv_heads = work.heads;
  const std::vector<PieceWork> works =
      piece_works(Ring(work, {KernelChoice{.name = "dilated"}, {.algorithm = RingAlgorithm::ring}}));
  EXPECT_EQ(works[0].launches, 2);
  EXPECT_EQ(works[1].launches, 1) << "segments of 256 positions cross no border";
  EXPECT_EQ(works[0].tile_keys, 256 + 64);
  EXPECT_EQ(works[1].tile_keys, 64);
}

}  // namespace
}  // namespace hilbench
