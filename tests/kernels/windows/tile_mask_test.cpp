#include "kernels/windows/tile_mask.hpp"

#include <gtest/gtest.h>

#include "kernels/windows/case_index.hpp"
#include "tests/kernels/random_windows.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

Coordinates at(std::int64_t position) {
  return {0, 0, static_cast<std::int32_t>(position)};
}

// Tiles of random positions: the keys that are listed, and the queries of each, against the definition.
TEST(TileMask, KnowsWhoSeesWhat) {
  for (std::uint64_t seed = 0; seed < (kSanitized ? 20 : 200); ++seed) {
    Random random(seed);
    const Case work = random_mask(random, 200);
    TileMask tile(work);
    for (int again = 0; again < 3; ++again) {
      std::vector<Coordinates> queries;
      std::vector<KeyMask> expected(static_cast<std::size_t>(work.sequence_length));
      KeyMask all = {};
      const std::int64_t count = between(random, 1, kMaskedRows);
      for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        const std::int64_t position = between(random, 0, work.sequence_length - 1);
        queries.push_back(at(position));
        all[i / 64] |= std::uint64_t{1} << i % 64;
        for (const std::int64_t key : defined_mask(work, position))
          expected[static_cast<std::size_t>(key)][i / 64] |= std::uint64_t{1} << i % 64;
      }
      tile.load(queries);
      EXPECT_EQ(tile.all(), all);
      std::vector<std::int64_t> keys, listed;
      for (std::int64_t key = 0; key < work.sequence_length; ++key) {
        const KeyMask& seen = expected[static_cast<std::size_t>(key)];
        ASSERT_EQ(tile.seen_by(at(key)), seen) << case_id(work) << ", key " << key;
        if (any_query(seen)) keys.push_back(key);
      }
      tile.for_each_key([&](std::int32_t key) { listed.push_back(key); });
      ASSERT_EQ(listed, keys) << case_id(work) << ", seed " << seed;
    }
  }
}

// A million positions in blocks of 64, about a hundred blocks of keys for each: counted in each order, the
// lists of a tile in a sequence of positions hold the pairs that the mask selects, and little else.
TEST(TileMask, OfAMillionPositionsIsCounted) {
  if (kSanitized) GTEST_SKIP() << "only the size matters";
  constexpr std::int64_t kBlocks = 1 << 14, kReach = 50;
  BlockBits bits(kBlocks);
  for (std::int64_t q = 0; q < kBlocks; ++q)
    for (std::int64_t k = std::max<std::int64_t>(q - kReach, 0); k < std::min(q + kReach, kBlocks); ++k)
      bits.set(q, k);
  Case work{.heads = 1, .kv_heads = 1, .device = DeviceKind::cpu};
  work.mask_blocks = mask_of_bits(std::make_shared<const BlockBits>(std::move(bits)), 64);
  fill_in_windows(work);
  ASSERT_EQ(work.sequence_length, 1 << 20);
  const MaskCounts needed = count_mask(work);
  for (const char* order : {"linear", "hilbert"}) {
    KernelChoice choice{.order = order};
    choice.order_tensors = OrderTensors::qkv;
    const TileCounts counts = count_tiles(WindowTiles(work, choice));
    EXPECT_GE(counts.computed, needed.pairs) << order;
    EXPECT_LT(case_index_bytes(work, choice, kMaskedRows, counts), 1e9) << order;
    if (choice.order == "linear") {
      EXPECT_LT(counts.computed, 1.02 * needed.pairs);
    }
  }
}

}  // namespace
}  // namespace hilbench
