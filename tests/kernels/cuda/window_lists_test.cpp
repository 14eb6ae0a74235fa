#include "kernels/cuda/shared/window_lists.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/kernels/random_windows.hpp"

namespace hilbench::cuda {
namespace {

constexpr MaskLayout kLayouts[] = {MaskLayout::mma, MaskLayout::wgmma};

TEST(MaskedPair, IsDifferentForEveryBit) {
  for (const MaskLayout layout : kLayouts) {
    std::set<std::pair<std::int32_t, std::int32_t>> pairs;
    for (std::int32_t word = 0; word < kMaskWords; ++word)
      for (std::int32_t bit = 0; bit < 64; ++bit) {
        const MaskedPair pair = masked_pair(layout, word, bit);
        EXPECT_TRUE(0 <= pair.query && pair.query < kMaskedRows && 0 <= pair.key && pair.key < kMaskedKeys);
        pairs.emplace(pair.query, pair.key);
      }
    EXPECT_EQ(std::ssize(pairs), kMaskedRows * kMaskedKeys);
  }
}

// PTX ISA, "Matrix fragments for mma.m16n8k16" and "wgmma.mma_async": the accumulators of one lane.
TEST(MaskedPair, FollowsTheFragments) {
  const auto expect = [](MaskLayout layout, std::int32_t word, std::int32_t bit, std::int32_t query,
                         std::int32_t key) {
    const MaskedPair pair = masked_pair(layout, word, bit);
    EXPECT_EQ(pair.query, query) << word << " " << bit;
    EXPECT_EQ(pair.key, key) << word << " " << bit;
  };
  // Warp 2, lane 13 (row 3, columns 2 and 3); keys 64 on; second 16 rows, third 8 keys, lower row, odd
  // column.
  expect(MaskLayout::mma, 128 + 2 * 32 + 13, 32 + 2 * 4 + 3, 2 * 32 + 16 + 8 + 3, 64 + 16 + 3);
  expect(MaskLayout::mma, 0, 1, 0, 1);
  // Second group, its warp 1, lane 30 (row 7, columns 4 and 5); 8 keys number 10, upper row, even column.
  expect(MaskLayout::wgmma, 128 + 32 + 30, 40, 64 + 16 + 7, 84);
  expect(MaskLayout::wgmma, 128 + 32 + 30, 43, 64 + 16 + 7 + 8, 85);
}

KernelChoice random_choice(Random& random) {
  KernelChoice choice;
  choice.order = one_of<std::string>(random, {"linear", "hilbert", "random"});
  choice.order_tensors = one_of(random, {OrderTensors::kv, OrderTensors::qkv});
  choice.tiles = one_of(random, {KeyTiles::united, KeyTiles::aligned});
  choice.traversal = one_of<std::string>(random, {"auto", "sawtooth_tile"});
  return choice;
}

// Word and bit of each pair, [kMaskedRows, kMaskedKeys].
std::vector<std::pair<std::int32_t, std::int32_t>> places_of(MaskLayout layout) {
  std::vector<std::pair<std::int32_t, std::int32_t>> places(kMaskedRows * kMaskedKeys);
  for (std::int32_t word = 0; word < kMaskWords; ++word)
    for (std::int32_t bit = 0; bit < 64; ++bit) {
      const MaskedPair pair = masked_pair(layout, word, bit);
      places[static_cast<std::size_t>(pair.query * kMaskedKeys + pair.key)] = {word, bit};
    }
  return places;
}

// The lists and the words of their masks, as a kernel gets them.
struct KernelLists : WindowLists {
  std::vector<std::uint64_t> words;
};

// The words are written in parts, of which the last is smaller.
KernelLists kernel_lists(const BranchIndex& branch, KeyTiles tiles, MaskLayout layout) {
  constexpr std::size_t kPart = 7;
  KernelLists lists{window_lists(branch, tiles, layout), {}};
  lists.words.resize(lists.mask_count() * kMaskWords);
  for (std::size_t first = 0; first < lists.mask_count(); first += kPart) {
    const std::size_t masks = std::min(kPart, lists.mask_count() - first);
    write_masks(lists, layout, first, std::span(lists.words).subspan(first * kMaskWords, masks * kMaskWords));
  }
  return lists;
}

// Every bit of a random mask is where masked_pair() says.
TEST(WriteMasks, PutsEachPairInItsPlace) {
  Random random(1);
  for (const MaskLayout layout : kLayouts) {
    WindowLists lists;
    BlockMask& mask = lists.short_masks.emplace_back();
    for (KeyMask& key : mask)
      for (std::uint64_t& word : key) word = random();
    std::vector<std::uint64_t> words(kMaskWords);
    write_masks(lists, layout, 0, words);
    for (std::int32_t word = 0; word < kMaskWords; ++word)
      for (std::int32_t bit = 0; bit < 64; ++bit) {
        const auto [query, key] = masked_pair(layout, word, bit);
        const std::uint64_t of_key =
            mask[static_cast<std::size_t>(key)][static_cast<std::size_t>(query / 64)];
        ASSERT_EQ(words[static_cast<std::size_t>(word)] >> bit & 1, of_key >> query % 64 & 1)
            << word << " " << bit;
      }
  }
}

// Whether the pair is seen, by the words of a kernel.
bool seen(const KernelLists& lists, const ForwardTile& tile, MaskLayout layout, std::int32_t query,
          std::int32_t key) {
  const std::int32_t number =
      lists.mask_of_block[static_cast<std::size_t>(tile.key_position + key / kMaskedKeys)];
  if (number < 0) return true;
  static const std::vector<std::pair<std::int32_t, std::int32_t>> places[] = {places_of(MaskLayout::mma),
                                                                              places_of(MaskLayout::wgmma)};
  const auto [word, bit] = places[layout == MaskLayout::wgmma ? 1 : 0]
                                 [static_cast<std::size_t>(query * kMaskedKeys + key % kMaskedKeys)];
  return (lists.words[static_cast<std::size_t>(number * kMaskWords + word)] >> bit & 1) != 0;
}

std::int32_t rows_that_see(const KernelLists& lists, const ForwardTile& tile, std::int32_t block) {
  std::int32_t count = 0;
  for (std::int32_t query = 0; query < tile.query_count; ++query) {
    bool sees = false;
    for (std::int32_t key = 128 * block; key < 128 * block + 128; ++key)
      sees = sees || seen(lists, tile, MaskLayout::wgmma, query, key);
    count += sees ? 1 : 0;
  }
  return count;
}

// What the kernels read, against the definition, for some rows of each case.
TEST(WindowLists, HoldThePairsOfTheDefinition) {
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    Random random(seed);
    Case work = random_windows(random, seed % 2 == 0 ? 60 : 18);
    work.batch = work.heads = work.kv_heads = 1;
    const KernelChoice choice = random_choice(random);
    const MaskLayout layout = one_of(random, {MaskLayout::mma, MaskLayout::wgmma});
    const Index index = case_index(work, choice, kMaskedRows);
    const BranchIndex& branch = index.branches.front();
    const KernelLists lists = kernel_lists(branch, choice.tiles, layout);
    std::vector<std::int64_t> position_of(static_cast<std::size_t>(work.sequence_length));
    for (std::size_t t = 0; t < position_of.size(); ++t)
      position_of[index.k_slots.empty() ? t : static_cast<std::size_t>(index.k_slots[t])] =
          static_cast<std::int64_t>(t);
    for (const ForwardTile& tile : window_tiles(branch, lists)) {
      const auto query = static_cast<std::int32_t>(between(random, 0, tile.query_count - 1));
      const std::int32_t number = tile.query_first + query;
      std::vector<std::int64_t> keys;
      const std::int32_t in_blocks = (tile.key_count + 127) / 128 * 128;
      for (std::int32_t key = 0; key < in_blocks; ++key) {
        if (!seen(lists, tile, layout, query, key)) continue;
        ASSERT_LT(key, tile.key_count) << "a key past the end of the list";
        const std::int32_t slot =
            lists.key_slots.empty()
                ? lists.key_blocks[static_cast<std::size_t>(tile.key_position + key / 128)] * 128 + key % 128
                : lists.key_slots[static_cast<std::size_t>(tile.key_begin + key)];
        keys.push_back(position_of[static_cast<std::size_t>(slot)]);
      }
      std::sort(keys.begin(), keys.end());
      const std::int64_t row =
          branch.query_rows.empty() ? number : branch.query_rows[static_cast<std::size_t>(number)];
      ASSERT_EQ(keys, defined_mask(work, row)) << case_id(work) << " " << variant_id({choice}) << " " << row;
      if (tile.key_count == 0) continue;
      const std::int32_t blocks = in_blocks / 128;
      EXPECT_EQ(tile.unmasked, lists.mask_of_block[static_cast<std::size_t>(
                                   tile.key_position + (tile.keys_backwards != 0 ? blocks - 1 : 0))]);
      if (layout != MaskLayout::wgmma) continue;
      for (std::int32_t block = 1; block < tile.key_count / 128; ++block)
        EXPECT_GE(rows_that_see(lists, tile, 0), rows_that_see(lists, tile, block)) << case_id(work);
    }
  }
}

}  // namespace
}  // namespace hilbench::cuda
