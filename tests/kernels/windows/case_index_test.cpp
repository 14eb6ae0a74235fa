#include "kernels/windows/case_index.hpp"

#include <gtest/gtest.h>

#include <map>

#include "kernels/windows/fullest_blocks.hpp"
#include "tests/kernels/random_windows.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

KernelChoice random_choice(Random& random) {
  KernelChoice choice;
  choice.order = one_of<std::string>(random, {"linear", "hilbert", "morton", "snake", "random"});
  choice.order_tensors = one_of(random, {OrderTensors::kv, OrderTensors::qkv});
  choice.tiles = one_of(random, {KeyTiles::automatic, KeyTiles::united, KeyTiles::aligned});
  choice.traversal = one_of<std::string>(random, {"auto", "head_minor", "sawtooth_tile", "longest_first"});
  return choice;
}

std::vector<std::int64_t> inverse(const std::vector<std::int32_t>& slots, std::int64_t length) {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(length));
  for (std::size_t t = 0; t < positions.size(); ++t)
    positions[slots.empty() ? t : static_cast<std::size_t>(slots[t])] = static_cast<std::int64_t>(t);
  return positions;
}

// The pairs that the index of a case says are seen, against the definition: each row of each head once.
TEST(CaseIndex, OfWindowsHoldsTheirPairs) {
  for (std::uint64_t seed = 0; seed < (kSanitized ? 20 : 120); ++seed) {
    Random random(seed);
    const Case work = random_windows_or_mask(random, 20);
    const KernelChoice choice = random_choice(random);
    const Index index = case_index(work, choice, kMaskedRows);
    ASSERT_EQ(index.branches.size(), 1u);
    const BranchIndex& branch = index.branches.front();
    const std::vector<std::int64_t> position_of = inverse(index.k_slots, work.sequence_length);
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, int> rows;
    for (const IndexTile& tile : branch.tiles)
      for (std::int32_t i = 0; i < tile.query_count; ++i) {
        const std::int64_t number = tile.query_row + i * tile.query_step;
        const std::int64_t row =
            branch.query_rows.empty() ? number : branch.query_rows[static_cast<std::size_t>(number)];
        ++rows[{tile.batch, tile.head, row}];
        EXPECT_EQ(tile.kv_head, tile.head * work.kv_heads / work.heads);
        if (tile.batch != 0 || tile.head != 0) continue;  // the others share its lists
        std::vector<std::int64_t> seen;
        const std::int64_t first_block =
            branch.block_begin[static_cast<std::size_t>(tile.query_row / kMaskedRows)];
        for (std::int64_t key = 0; key < tile.key_count; ++key) {
          const std::int32_t mask =
              branch.mask_of_block[static_cast<std::size_t>(first_block + key / kMaskedKeys)];
          const bool sees =
              mask == kUnmasked ||
              (branch.masks[static_cast<std::size_t>(mask)][static_cast<std::size_t>(key % kMaskedKeys)]
                           [static_cast<std::size_t>(i / 64)] >>
                   i % 64 &
               1) != 0;
          const auto slot =
              static_cast<std::size_t>(branch.key_slot[static_cast<std::size_t>(tile.key_begin + key)]);
          if (sees) seen.push_back(position_of[slot]);
        }
        std::sort(seen.begin(), seen.end());
        ASSERT_EQ(seen, defined_mask(work, row))
            << case_id(work) << " " << variant_id({choice}) << " " << row;
      }
    EXPECT_EQ(std::ssize(rows), work.batch * work.heads * work.sequence_length);
    for (const auto& [row, times] : rows) ASSERT_EQ(times, 1);
  }
}

TEST(CaseIndex, StoresEqualMasksOnce) {
  Case work{.heads = 1, .kv_heads = 1};
  work.windows = {{.extent = 128, .window = 13}, {.extent = 128, .window = 13}};
  fill_in_windows(work);
  KernelChoice choice;  // raster: every tile is a row, and all rows see their keys alike
  const Index index = case_index(work, choice, kMaskedRows);
  const TileCounts counts = count_tiles(WindowTiles(work, choice));
  EXPECT_EQ(index.branches[0].masks.size(), 1u);
  EXPECT_EQ(counts.masks, 1);
  EXPECT_EQ(counts.blocks, 128 * 13);
  EXPECT_EQ(counts.partial_blocks, counts.blocks);
}

TEST(CaseIndex, BytesBoundTheIndex) {
  for (const char* order : {"linear", "hilbert"})
    for (const KeyTiles tiles : {KeyTiles::united, KeyTiles::aligned}) {
      Case work{.heads = 3, .kv_heads = 3};
      work.windows = {{.extent = 40, .window = 7}, {.extent = 50, .window = 9}};
      fill_in_windows(work);
      KernelChoice choice;
      choice.order = order;
      choice.order_tensors = OrderTensors::qkv;
      choice.tiles = tiles;
      const Index index = case_index(work, choice, kMaskedRows);
      const BranchIndex& branch = index.branches[0];
      const double held =
          4.0 * static_cast<double>(branch.key_slot.size() + branch.mask_of_block.size() +
                                    branch.query_rows.size() + index.q_slots.size() + index.k_slots.size()) +
          static_cast<double>(branch.masks.size() * sizeof(BlockMask) +
                              branch.tiles.size() * sizeof(IndexTile));
      const double bound =
          case_index_bytes(work, choice, kMaskedRows, count_tiles(WindowTiles(work, choice)));
      EXPECT_GE(bound, held);
      EXPECT_LE(bound, 1.5 * held);
    }
}

// A video of a million positions: lists, masks and tiles of the index stay below a gigabyte.
TEST(CaseIndex, OfAMillionPositionsIsSmall) {
  if (kSanitized) GTEST_SKIP() << "only the size matters";
  Case work{.heads = 1, .kv_heads = 1};
  work.windows = {{.extent = 64, .window = 7}, {.extent = 128, .window = 13}, {.extent = 128, .window = 13}};
  fill_in_windows(work);
  for (const char* order : {"linear", "hilbert"}) {
    KernelChoice choice;
    choice.order = order;
    choice.order_tensors = OrderTensors::qkv;
    const TileCounts counts = count_tiles(WindowTiles(work, choice));
    EXPECT_LT(case_index_bytes(work, choice, kMaskedRows, counts), 1e9) << order;
    EXPECT_LT(counts.masks, counts.partial_blocks / 4) << order;
  }
}

// Branches have the index that they always had.
TEST(CaseIndex, OfBranchesIsThatOfBuildIndex) {
  const Case work{.sequence_length = 300, .pattern = {{100, 2}}, .heads = 2, .kv_heads = 2};
  const Index any = case_index(work, {}, 48), branches = build_index(work, {}, 48);
  ASSERT_EQ(any.branches.size(), branches.branches.size());
  EXPECT_EQ(any.branches[0].key_slot, branches.branches[0].key_slot);
  EXPECT_EQ(any.branches[0].tiles.size(), branches.branches[0].tiles.size());
  EXPECT_TRUE(any.branches[0].mask_of_block.empty());
  EXPECT_EQ(case_index_bytes(work, {}, 48, {}), index_bytes(work, {}, 48));
}

// The shape of an index says as much of its tiles and blocks as the index itself.
TEST(CaseIndex, TheShapeOfWindowsIsThatOfTheirLists) {
  for (std::uint64_t seed = 0; seed < (kSanitized ? 20 : 200); ++seed) {
    Random random(1000 + seed);
    const Case work = random_windows_or_mask(random, 30);
    const KernelChoice choice = random_choice(random);
    const Index all = case_index(work, choice, kMaskedRows);
    const Index shape = case_index(work, choice, kMaskedRows, {}, IndexContents::shape);
    const BranchIndex &own = shape.branches.front(), &expected = all.branches.front();
    const std::string where = case_id(work) + " " + variant_id({choice});
    EXPECT_EQ(own.begin, expected.begin) << where;
    EXPECT_EQ(own.block_begin, expected.block_begin) << where;
    EXPECT_EQ(own.query_rows, expected.query_rows) << where;
    EXPECT_EQ(own.fullest_block, fullest_blocks(expected)) << where;
    EXPECT_TRUE(own.key_slot.empty()) << where;
    ASSERT_EQ(own.mask_of_block.size(), expected.mask_of_block.size()) << where;
    for (std::size_t block = 0; block < own.mask_of_block.size(); ++block)
      EXPECT_EQ(own.mask_of_block[block] == kUnmasked, expected.mask_of_block[block] == kUnmasked) << where;
    ASSERT_EQ(own.tiles.size(), expected.tiles.size()) << where;
    for (std::size_t tile = 0; tile < own.tiles.size(); ++tile) {
      EXPECT_EQ(own.tiles[tile].key_begin, expected.tiles[tile].key_begin) << where;
      EXPECT_EQ(own.tiles[tile].key_count, expected.tiles[tile].key_count) << where;
      EXPECT_EQ(own.tiles[tile].query_row, expected.tiles[tile].query_row) << where;
      EXPECT_EQ(own.tiles[tile].keys_backwards, expected.tiles[tile].keys_backwards) << where;
    }
  }
}

}  // namespace
}  // namespace hilbench
