#include "kernels/windows/window_tiles.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/kernels/random_windows.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

using Extents = std::vector<std::int64_t>;

Case grid(const Extents& extents, const Extents& windows) {
  Case work{.heads = 1, .kv_heads = 1, .device = DeviceKind::cpu};
  for (std::size_t d = 0; d < extents.size(); ++d)
    work.windows.push_back({.extent = extents[d], .window = windows[d]});
  fill_in_windows(work);
  return work;
}

TileCounts counts_of(const Case& work, const std::string& order, KeyTiles tiles, const Extents& box = {}) {
  KernelChoice choice;
  choice.order = order;
  choice.order_box = box;
  choice.order_tensors = OrderTensors::qkv;
  choice.tiles = tiles;
  return count_tiles(WindowTiles(work, choice));
}

double all_pairs(const Case& work) {
  return static_cast<double>(work.sequence_length) * static_cast<double>(work.sequence_length);
}

// Percent of all tiles of 128 x 128 pairs that hold work, counted apart from this program.
TEST(WindowTiles, AlignedTilesOfKnownGrids) {
  struct Known {
    Extents grid, window;
    std::string order;
    Extents box;
    double percent;
  };
  const Known kKnown[] = {
      {{128, 128}, {13, 13}, "linear", {}, 10.2},
      {{128, 128}, {13, 13}, "hilbert", {}, 5.90},
      {{128, 128}, {13, 13}, "morton", {}, 6.18},
      {{128, 128}, {13, 13}, "boxes", {8, 16}, 6.18},
      {{128, 128}, {31, 31}, "linear", {}, 24.2},
      {{128, 128}, {31, 31}, "hilbert", {}, 11.0},
      {{128, 128}, {31, 31}, "morton", {}, 10.2},
      {{128, 128}, {31, 31}, "boxes", {8, 16}, 10.2},
      {{32, 48, 80}, {18, 24, 24}, "linear", {}, 29.1},
      {{32, 48, 80}, {18, 24, 24}, "hilbert", {}, 16.9},
      {{32, 48, 80}, {18, 24, 24}, "morton", {}, 16.0},
      {{32, 48, 80}, {18, 24, 24}, "boxes", {4, 4, 8}, 16.0},
      {{32, 48, 80}, {18, 24, 24}, "boxes", {8, 8, 8}, 17.3},
  };
  for (const Known& known : kKnown) {
    if (kSanitized && known.grid.size() == 3) continue;
    const Case work = grid(known.grid, known.window);
    const TileCounts counts = counts_of(work, known.order, KeyTiles::aligned, known.box);
    EXPECT_NEAR(100 * counts.computed / all_pairs(work), known.percent, known.percent < 10 ? 0.005 : 0.05)
        << case_id(work) << " " << known.order;
  }
}

// The union of the windows of 128 queries, in blocks of 128 keys, over the pairs that are needed.
TEST(WindowTiles, UnitedTilesOfKnownGrids) {
  const auto ratio = [](const Case& work, const std::string& order, const Extents& box = {}) {
    const TileCounts counts = counts_of(work, order, KeyTiles::united, box);
    EXPECT_LE(counts.keys, counts.blocks * kMaskedKeys);
    EXPECT_EQ(counts.computed, static_cast<double>(counts.keys * kMaskedRows));
    return static_cast<double>(counts.blocks * kMaskedKeys * kMaskedRows) / window_pairs(work);
  };
  for (const char* order : {"hilbert", "morton"}) {
    EXPECT_NEAR(ratio(grid({128, 128}, {13, 13}), order), 3.5, 0.05);
    EXPECT_NEAR(ratio(grid({128, 128}, {31, 31}), order), 1.66, 0.01);
  }
  if (kSanitized) return;
  EXPECT_NEAR(ratio(grid({32, 48, 80}, {18, 24, 24}), "hilbert"), 1.41, 0.005);
}

TEST(WindowTiles, OrdersOfQueriesDecideTheCounts) {
  const Case work = grid({64, 64}, {9, 9});
  KernelChoice keys_alone;
  keys_alone.order = "hilbert";
  KernelChoice raster;
  EXPECT_EQ(count_tiles(WindowTiles(work, keys_alone)).keys, count_tiles(WindowTiles(work, raster)).keys);
  EXPECT_LT(counts_of(work, "hilbert", KeyTiles::united).keys,
            count_tiles(WindowTiles(work, raster)).keys * 2 / 3);
  EXPECT_GT(counts_of(work, "random", KeyTiles::united).keys, count_tiles(WindowTiles(work, raster)).keys);
}

// What a tile reads, against the definition: the union of the windows of its queries by slot, or the blocks
// of slots that hold one of them.
TEST(WindowTiles, ReadTheKeysOfTheirQueries) {
  for (std::uint64_t seed = 0; seed < (kSanitized ? 20 : 120); ++seed) {
    Random random(seed);
    const Case work = random_windows_or_mask(random, 24);
    KernelChoice choice;
    choice.order = one_of<std::string>(random, {"linear", "hilbert", "morton", "snake", "random"});
    choice.order_tensors = one_of(random, {OrderTensors::kv, OrderTensors::qkv});
    choice.tiles = one_of(random, {KeyTiles::automatic, KeyTiles::aligned});
    const WindowTiles tiles(work, choice);
    const auto slot_of = [&](std::int64_t position) {
      return tiles.k_slots().empty() ? position
                                     : std::int64_t{tiles.k_slots()[static_cast<std::size_t>(position)]};
    };
    WindowTiles::Reader reader(tiles);
    double computed = 0;
    for (std::int64_t tile = 0; tile < tiles.size(); ++tile) {
      std::set<std::int64_t> expected;
      for (std::int64_t i = 0; i < tiles.query_count(tile); ++i) {
        const std::int64_t number = tile * kMaskedRows + i;
        const std::int64_t row =
            tiles.query_rows().empty() ? number : tiles.query_rows()[static_cast<std::size_t>(number)];
        for (const std::int64_t key : defined_mask(work, row)) {
          if (choice.tiles != KeyTiles::aligned) {
            expected.insert(slot_of(key));
            continue;
          }
          const std::int64_t begin = slot_of(key) / kMaskedKeys * kMaskedKeys;
          for (std::int64_t s = begin; s < std::min(begin + kMaskedKeys, work.sequence_length); ++s)
            expected.insert(s);
        }
      }
      tiles.read(tile, reader);
      ASSERT_EQ(std::vector<std::int64_t>(reader.slots.begin(), reader.slots.end()),
                std::vector<std::int64_t>(expected.begin(), expected.end()))
          << case_id(work) << " " << choice.order << " tile " << tile;
      computed += static_cast<double>(expected.size()) * tiles.query_count(tile);
    }
    EXPECT_EQ(count_tiles(tiles).computed, computed) << case_id(work);
  }
}

}  // namespace
}  // namespace hilbench
