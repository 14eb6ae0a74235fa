#include "kernels/windows/tile_windows.hpp"

#include <gtest/gtest.h>

#include "tests/kernels/random_windows.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

Coordinates coordinates_of(const Case& work, std::int64_t position) {
  const std::vector<std::int64_t> grid = grid_of(work);
  Coordinates at = {};
  for (std::size_t d = grid.size(), to = kMostDimensions; d-- > 0;) {
    at[--to] = static_cast<std::int32_t>(position % grid[d]);
    position /= grid[d];
  }
  return at;
}

// Tiles of random positions: the keys that are listed, and the queries of each, against the definition.
TEST(TileWindows, KnowWhoSeesWhat) {
  for (std::uint64_t seed = 0; seed < (kSanitized ? 20 : 200); ++seed) {
    Random random(seed);
    const Case work = random_windows(random, seed % 4 == 0 ? 40 : 12);  // 40: several stretches of a row
    TileWindows windows(work);
    for (int again = 0; again < 3; ++again) {
      std::vector<std::int64_t> positions;
      std::vector<Coordinates> queries;
      for (std::int64_t i = between(random, 1, kMaskedRows); i > 0; --i) {
        positions.push_back(between(random, 0, work.sequence_length - 1));
        queries.push_back(coordinates_of(work, positions.back()));
      }
      std::vector<KeyMask> expected(static_cast<std::size_t>(work.sequence_length));
      KeyMask all = {};
      for (std::size_t i = 0; i < positions.size(); ++i) {
        const std::uint64_t bit = std::uint64_t{1} << i % 64;
        all[i / 64] |= bit;
        for (const std::int64_t key : defined_mask(work, positions[i]))
          expected[static_cast<std::size_t>(key)][i / 64] |= bit;
      }
      windows.load(queries);
      EXPECT_EQ(windows.all(), all);
      std::vector<std::int64_t> keys, listed;
      for (std::int64_t key = 0; key < work.sequence_length; ++key) {
        const KeyMask& seen = expected[static_cast<std::size_t>(key)];
        ASSERT_EQ(windows.seen_by(coordinates_of(work, key)), seen) << case_id(work) << ", key " << key;
        if (any_query(seen)) keys.push_back(key);
      }
      windows.for_each_key([&](std::int32_t key) { listed.push_back(key); });
      ASSERT_EQ(listed, keys) << case_id(work) << ", seed " << seed;
    }
  }
}

}  // namespace
}  // namespace hilbench
