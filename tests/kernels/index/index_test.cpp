#include "kernels/index/index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "kernels/base/text/error.hpp"
#include "kernels/case/pattern.hpp"
#include "tests/kernels/random_case.hpp"

namespace hilbench {
namespace {

using Positions = UntouchedVector<std::int32_t>;

Positions list_of(const BranchIndex& index, std::size_t list, const Positions& values) {
  return {values.begin() + index.begin[list], values.begin() + index.begin[list + 1]};
}

// Sequence of 7, segments of 4 with every second position: segments 0-3 and 4-6.
// K/V head 0 takes 0, 2 | 4, 6 and head 1 takes 1, 3 | 5.
const Case kSmall{.sequence_length = 7, .pattern = {{4, 2}}, .heads = 2, .kv_heads = 2};

TEST(Index, LinearByHand) {
  const Index index = build_index(kSmall, {}, 2);
  const BranchIndex& branch = index.branches.at(0);
  EXPECT_TRUE(index.k_slots.empty());
  EXPECT_TRUE(index.q_slots.empty());
  EXPECT_EQ(branch.begin, (std::vector<std::int64_t>{0, 2, 4, 6, 7}));
  EXPECT_EQ(branch.key_position, (Positions{0, 2, 4, 6, 1, 3, 5}));
  EXPECT_EQ(branch.key_slot, branch.key_position);
  EXPECT_EQ(branch.key_step, 2);
  EXPECT_TRUE(branch.keys_by_step);
  ASSERT_EQ(branch.tiles.size(), 4u);
  const IndexTile& last = branch.tiles[3];
  EXPECT_EQ(std::tie(last.query_row, last.query_step, last.query_count), std::make_tuple(5, 2, 1));
  EXPECT_EQ(std::tie(last.key_begin, last.key_count, last.unmasked), std::make_tuple(6, 1, 1));
  EXPECT_EQ(std::tie(last.batch, last.head, last.kv_head), std::make_tuple(0, 1, 1));
  EXPECT_FALSE(last.keys_backwards || last.merge);
}

// Queries 4 and 6 of head 0 under a causal mask: the first sees key 4, the last sees both.
TEST(Index, CausalTilesEndWithTheirLastVisibleKey) {
  Case work = kSmall;
  work.mask = Mask::causal;
  const Index together = build_index(work, {}, 2), alone = build_index(work, {}, 1);
  const IndexTile& both = together.branches[0].tiles.at(1);
  EXPECT_EQ(std::tie(both.query_row, both.key_begin, both.key_count, both.unmasked),
            std::make_tuple(4, 2, 2, 1));
  const IndexTile& first = alone.branches[0].tiles.at(2);
  EXPECT_EQ(std::tie(first.query_row, first.key_begin, first.key_count, first.unmasked),
            std::make_tuple(4, 2, 1, 1));
}

// residue 2 stores 0 2 4 6 1 3 5: slots of positions 0..6 are 0 4 1 5 2 6 3.
TEST(Index, ResidueMovesSlotsAndKeepsPositions) {
  KernelChoice choice;
  choice.order = "residue";
  const Index index = build_index(kSmall, choice, 2);
  EXPECT_EQ(index.k_slots, (std::vector<std::int32_t>{0, 4, 1, 5, 2, 6, 3}));
  EXPECT_TRUE(index.q_slots.empty());
  EXPECT_EQ(index.branches[0].key_position, (Positions{0, 2, 4, 6, 1, 3, 5}));
  EXPECT_EQ(index.branches[0].key_slot, (Positions{0, 1, 2, 3, 4, 5, 6}));
  choice.order_tensors = OrderTensors::qkv;
  EXPECT_EQ(build_index(kSmall, choice, 2).q_slots, index.k_slots);
}

TEST(Index, KeyVisitSlotSortsEachSegmentBySlot) {
  const Case work{.sequence_length = 200, .pattern = {{64, 3}}, .kv_heads = 8};
  KernelChoice choice;
  choice.order = "random";
  const Index by_position = build_index(work, choice, 16);
  choice.key_visit = KeyVisit::slot;
  const Index by_slot = build_index(work, choice, 16);
  const BranchIndex &a = by_position.branches[0], &b = by_slot.branches[0];
  EXPECT_FALSE(std::is_sorted(a.key_slot.begin() + a.begin[0], a.key_slot.begin() + a.begin[1]));
  EXPECT_TRUE(a.keys_by_step);
  EXPECT_FALSE(b.keys_by_step);
  EXPECT_EQ(a.begin, b.begin);
  for (std::size_t list = 0; list + 1 < a.begin.size(); ++list) {
    const Positions slots = list_of(b, list, b.key_slot);
    EXPECT_TRUE(std::is_sorted(slots.begin(), slots.end()));
    Positions positions = list_of(b, list, b.key_position);
    std::sort(positions.begin(), positions.end());
    EXPECT_EQ(positions, list_of(a, list, a.key_position));
  }
  for (std::size_t i = 0; i < b.key_slot.size(); ++i)
    EXPECT_EQ(b.key_slot[i], by_slot.k_slots[static_cast<std::size_t>(b.key_position[i])]);
}

TEST(Index, TokensScopeAndBaselinesReadPositionOrder) {
  KernelChoice choice;
  choice.order = "random";
  choice.order_scope = OrderScope::tokens;
  choice.key_visit = KeyVisit::slot;
  const Index tokens = build_index(kSmall, choice, 2);
  EXPECT_TRUE(tokens.k_slots.empty());
  EXPECT_EQ(tokens.branches[0].key_slot, tokens.branches[0].key_position);
  const Variant baseline{BaselineName{"gemm"}};
  EXPECT_TRUE(build_index(kSmall, baseline.kernel(), 2).k_slots.empty());
}

// Every (batch, head, query position) that the branch selects, once.
TEST(Index, TilesHoldEveryQueryRowOfABranchOnce) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 300; ++i) {
    const Case work = random_case(random, 150);
    SCOPED_TRACE(case_id(work));
    KernelChoice choice;
    choice.traversal = i % 2 == 0 ? "head_major" : "longest_first";
    const Index index = build_index(work, choice, 1 + i % 9);
    for (std::size_t b = 0; b < work.pattern.size(); ++b) {
      const auto [w, r] = work.pattern[b];
      std::map<std::pair<std::int64_t, std::int64_t>, int> held;
      for (const IndexTile& tile : index.branches[b].tiles) {
        ASSERT_GT(tile.query_count, 0);
        for (std::int64_t row = 0; row < tile.query_count; ++row)
          ++held[{tile.batch * work.heads + tile.head, tile.query_row + row * tile.query_step}];
      }
      std::size_t expected = 0;
      for (std::int64_t y = 0; y < work.batch * work.heads; ++y) {
        const std::int64_t head = y % work.heads;
        if (!head_runs_branch(work, head, static_cast<std::int64_t>(b))) continue;
        const std::int64_t offset = offset_of(work, b, kv_head_of(work, head));
        for (std::int64_t t = 0; t < work.sequence_length; ++t) {
          if (work.queries == Queries::dilated && t % w % r != offset) continue;
          ++expected;
          ASSERT_EQ((held[{y, t}]), 1) << "row " << y << " position " << t;
        }
      }
      ASSERT_EQ(held.size(), expected);
    }
  }
}

// Each query's keys are those that the definition selects for its head and that the mask does not hide.
TEST(Index, TilesHoldTheKeysOfTheirQueries) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 100; ++i) {
    const Case work = random_case(random, 150);
    SCOPED_TRACE(case_id(work));
    KernelChoice choice;
    choice.order = i % 2 == 0 ? "linear" : "random";
    choice.key_visit = i % 3 == 0 ? KeyVisit::slot : KeyVisit::position;
    const Index index = build_index(work, choice, 1 + i % 9);
    for (std::size_t b = 0; b < work.pattern.size(); ++b) {
      const BranchIndex& branch = index.branches[b];
      const auto [w, r] = work.pattern[b];
      for (const IndexTile& tile : branch.tiles)
        for (std::int64_t q = tile.query_row; q <= tile.last_row(); q += tile.query_step) {
          const std::int64_t offset = offset_of(work, b, tile.kv_head);
          std::set<std::int64_t> expected, seen;
          for (std::int64_t t = q / w * w + offset; t < std::min((q / w + 1) * w, work.sequence_length);
               t += r)
            if (work.mask == Mask::full || t <= q) expected.insert(t);
          for (std::int32_t key = 0; key < tile.key_count; ++key) {
            const std::int64_t t = branch.key_position[static_cast<std::size_t>(tile.key_begin + key)];
            if (work.mask == Mask::full || t <= q) {
              seen.insert(t);
            } else {
              ASSERT_GE(key, tile.unmasked);
            }
          }
          ASSERT_EQ(seen, expected) << "query " << q;
        }
    }
  }
}

// The last tile of 49 positions has one query, and takes about as long as a full one: it begins first too.
TEST(Index, LongestFirstStartsWithTheMostKeysOfAQuery) {
  for (const std::int64_t length : {64, 49}) {
    const Case work{
        .sequence_length = length, .pattern = {{length, 1}}, .heads = 1, .kv_heads = 1, .mask = Mask::causal};
    KernelChoice choice;
    choice.traversal = "longest_first";
    const Index index = build_index(work, choice, 16);
    ASSERT_EQ(index.branches[0].tiles.size(), 4u);
    for (std::int32_t i = 0; i < 4; ++i)
      EXPECT_EQ(index.branches[0].tiles[static_cast<std::size_t>(i)].query_row, 16 * (3 - i)) << length;
  }
}

template <class Values>
double bytes_of(const Values& values) {
  return static_cast<double>(values.size() * sizeof(values[0]));
}

TEST(IndexBytes, BoundsWhatIsBuilt) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100; ++i) {
    const Case work = random_case(random, 150);
    SCOPED_TRACE(case_id(work));
    KernelChoice choice;
    choice.order = "residue";
    const Index index = build_index(work, choice, 8);
    double bytes = bytes_of(index.k_slots) + bytes_of(index.q_slots);
    for (const BranchIndex& b : index.branches)
      bytes += bytes_of(b.begin) + bytes_of(b.key_slot) + bytes_of(b.key_position) + bytes_of(b.tiles);
    EXPECT_LE(bytes, index_bytes(work, choice, 8));
  }
  const Case large{.sequence_length = 65536, .pattern = {{2048, 1}, {4096, 2}}, .kv_heads = 8};
  double bytes = 0;
  for (const BranchIndex& b : build_index(large, {}, 64).branches)
    bytes += bytes_of(b.key_slot) + bytes_of(b.key_position) + bytes_of(b.tiles);
  EXPECT_NEAR(index_bytes(large, {}, 64) / bytes, 1, 0.01);
}

// Segments of 4 with every second position, head 0: tile of queries 0, 2 and tile of queries 4, 6.
TEST(TileReads, ListsTheKeysOfHeadZero) {
  const TileReads all = tile_reads(kSmall, build_index(kSmall, {}, 2), 1000);
  EXPECT_EQ(all.visits, (std::vector<std::int64_t>{0, 2, 4, 6}));
  EXPECT_EQ(all.tile_begin, (std::vector<std::int64_t>{0, 2, 4}));
  const TileReads cut = tile_reads(kSmall, build_index(kSmall, {}, 2), 1);
  EXPECT_EQ(cut.visits, (std::vector<std::int64_t>{0, 2}));
}

// Segments of 4 at dilation 1, then of 8 at dilation 2, one query a tile: each tile reads 4 keys, and each
// branch ends with its second tile.
TEST(TileReads, SharesTheLimitAmongBranches) {
  Case work = kSmall;
  work.pattern = {{4, 1}, {8, 2}};
  const TileReads reads = tile_reads(work, build_index(work, {}, 1), 16);
  EXPECT_EQ(reads.visits, (std::vector<std::int64_t>{0, 1, 2, 3, 0, 1, 2, 3, 0, 2, 4, 6, 0, 2, 4, 6}));
}

// One query a tile: causal tiles read 0 | 0, 2 | 4 | 4, 6, and sawtooth_tile reverses the odd ones.
TEST(TileReads, CausalAndBackwards) {
  Case work = kSmall;
  work.mask = Mask::causal;
  KernelChoice choice;
  choice.traversal = "sawtooth_tile";
  const TileReads reads = tile_reads(work, build_index(work, choice, 1), 1000);
  EXPECT_EQ(reads.visits, (std::vector<std::int64_t>{0, 2, 0, 4, 6, 4}));
  EXPECT_EQ(reads.tile_begin, (std::vector<std::int64_t>{0, 1, 3, 4, 6}));
}

TEST(Index, RefusesWhatDoesNotFit32Bits) {
  Case work = kSmall;
  work.sequence_length = std::int64_t{1} << 31;
  EXPECT_THROW(build_index(work, {}, 64), UsageError);
}

}  // namespace
}  // namespace hilbench
