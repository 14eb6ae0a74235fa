#include "harness/external/kernel_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "baselines/reference.hpp"

namespace hilbench {
namespace {

// The positions of the keys that each (branch's launch, head, query) reads, by the tiles.
using Reads = std::map<std::tuple<int, int, int>, std::multiset<int>>;

Reads reads_of(const std::vector<std::int32_t>& tiles, bool causal) {
  Reads reads;
  for (std::size_t at = 0; at < tiles.size(); at += kTileNumbers) {
    const std::int32_t* const tile = &tiles[at];
    for (int i = 0; i < tile[6]; ++i)
      for (int j = 0; j < tile[9]; ++j) {
        const int query = tile[4] + i * tile[5], key = tile[7] + j * tile[8];
        if (!causal || key <= query) reads[{tile[0], tile[2], query}].insert(key);
      }
  }
  return reads;
}

TEST(KernelLayout, TilesReadWhatThePatternSelects) {
  for (const Mask mask : {Mask::full, Mask::causal}) {
    Case work = {
        .sequence_length = 50, .pattern = {{20, 1}, {50, 3}}, .heads = 4, .kv_heads = 2, .head_dim = 8};
    work.mask = mask;
    const KernelChoice choice{.name = "mine", .order = "random", .traversal = "head_minor"};
    const Reads reads = reads_of(tile_numbers(work, choice, 7, {}), mask == Mask::causal);
    std::map<std::pair<int, int>, std::multiset<int>> found, wanted;
    for (const auto& [at, keys] : reads) {
      auto& all = found[{std::get<1>(at), std::get<2>(at)}];
      all.insert(keys.begin(), keys.end());
    }
    for (int head = 0; head < 4; ++head)
      for (int branch = 0; branch < 2; ++branch)
        for (int query = 0; query < 50; ++query)
          for (const std::int64_t key : visible_keys(work, head, branch, query))
            wanted[{head, query}].insert(static_cast<int>(key));
    EXPECT_EQ(found, wanted);
  }
}

TEST(KernelLayout, TilesFollowTheTraversalAndSayWhatMerges) {
  const Case work = {
      .sequence_length = 64, .pattern = {{32, 1}, {64, 2}}, .heads = 2, .kv_heads = 2, .head_dim = 8};
  const KernelChoice major{.name = "mine", .traversal = "head_major"};
  KernelChoice minor = major;
  minor.traversal = "head_minor";
  const auto heads = [&](const KernelChoice& choice) {
    const std::vector<std::int32_t> tiles = tile_numbers(work, choice, 16, {});
    std::vector<std::int32_t> found;
    for (std::size_t at = 0; at < tiles.size() && tiles[at] == 0; at += kTileNumbers)
      found.push_back(tiles[at + 2]);
    return found;
  };
  EXPECT_EQ(heads(major), (std::vector<std::int32_t>{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(heads(minor), (std::vector<std::int32_t>{0, 1, 0, 1, 0, 1, 0, 1}));
  const std::vector<std::int32_t> tiles = tile_numbers(work, major, 16, {});
  for (std::size_t at = 0; at < tiles.size(); at += kTileNumbers)
    EXPECT_EQ(tiles[at + 11] & kTileMerges, tiles[at] == 0 ? 0 : kTileMerges);
}

TEST(KernelLayout, SlotsAreInAFileAndLinearOrderHasThemToo) {
  const Case work = {.sequence_length = 6, .pattern = {{6, 1}}, .heads = 1, .kv_heads = 1, .head_dim = 8};
  const KernelChoice linear{.name = "mine"}, random{.name = "mine", .order = "random"};
  EXPECT_TRUE(stored_order(work, linear).slots.empty());
  const StoredOrder order = stored_order(work, random);
  ASSERT_EQ(order.slots.size(), 6u);
  const KernelLayout none = kernel_layout(work, linear, {}, 0, {}),
                     tiled = kernel_layout(work, random, order, 4, {});
  EXPECT_EQ(none.slots->bytes(), 24u);
  EXPECT_FALSE(none.tiles);
  EXPECT_FALSE(none.request.contains("tiles"));
  EXPECT_EQ(tiled.tiles->bytes(), 2 * kTileNumbers * sizeof(std::int32_t));
  EXPECT_EQ(tiled.request.at("order"), "random");
  KernelChoice other = random;
  other.traversal = "head_minor";
  EXPECT_EQ(stored_order(work, other).key, order.key) << "they share files";
}

}  // namespace
}  // namespace hilbench
