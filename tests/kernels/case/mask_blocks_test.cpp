#include "kernels/case/mask_blocks.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "baselines/reference.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/case/pattern.hpp"
#include "tests/kernels/random_windows.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

BlockBits bits_of_rows(const std::vector<std::string>& rows) {
  BlockBits bits(std::ssize(rows));
  for (std::int64_t q = 0; q < bits.blocks(); ++q)
    for (std::int64_t k = 0; k < bits.blocks(); ++k)
      if (rows[static_cast<std::size_t>(q)][static_cast<std::size_t>(k)] == '#') bits.set(q, k);
  return bits;
}

Case masked(std::int64_t length, std::int64_t block, const std::vector<std::string>& rows) {
  Case work{.sequence_length = length, .heads = 1, .kv_heads = 1, .device = DeviceKind::cpu};
  work.mask_blocks = mask_of_bits(std::make_shared<const BlockBits>(bits_of_rows(rows)), block);
  fill_in_windows(work, Length::given);
  return work;
}

// Written out by hand: 10 positions in blocks of 4, the last of two.
TEST(MaskBlocks, OfASmallMaskByHand) {
  Case work = masked(10, 4, {"#.#", "...", "##."});
  const std::vector<std::int64_t> first = {0, 1, 2, 3, 8, 9}, last = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(visible_keys(work, 0, 0, 0), first);
  EXPECT_EQ(visible_keys(work, 0, 0, 3), first);
  EXPECT_TRUE(visible_keys(work, 0, 0, 4).empty());
  EXPECT_EQ(visible_keys(work, 0, 0, 9), last);
  EXPECT_EQ(count_mask(work).pairs, 4 * 6 + 2 * 8);
  EXPECT_EQ(count_mask(work).query_rows, 6);
  EXPECT_EQ(count_mask(work).kv_rows, 10);
  EXPECT_EQ(flops(work), 4.0 * 64 * 40);
  work.mask = Mask::causal;
  EXPECT_EQ(visible_keys(work, 0, 0, 2), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(visible_keys(work, 0, 0, 8), last);
  EXPECT_EQ(count_mask(work).pairs, 1 + 2 + 3 + 4 + 2 * 8);
  EXPECT_EQ(count_mask(work).kv_rows, 8);
}

// The oracle, the counts of keys and of pairs, against the digits of the mask, key by key.
TEST(MaskBlocks, FollowTheDefinition) {
  for (std::uint64_t seed = 0; seed < (kSanitized ? 40 : 300); ++seed) {
    Random random(seed);
    const Case work = random_mask(random, 220);
    ASSERT_EQ(why_not_windows(work), std::nullopt) << case_id(work);
    double pairs = 0, rows = 0;
    std::set<std::int64_t> keys;
    for (std::int64_t t = 0; t < work.sequence_length; ++t) {
      const std::vector<std::int64_t> seen = defined_mask(work, t);
      ASSERT_EQ(visible_keys(work, 0, 0, t), seen) << case_id(work) << ", " << t;
      ASSERT_EQ(visible_count(work, t), std::ssize(seen)) << case_id(work) << ", " << t;
      pairs += static_cast<double>(seen.size());
      rows += seen.empty() ? 0 : 1;
      keys.insert(seen.begin(), seen.end());
    }
    const PatternCounts counts = count_work(work);
    const auto heads = static_cast<double>(work.batch * work.heads);
    EXPECT_EQ(counts.pairs, heads * pairs) << case_id(work);
    EXPECT_EQ(counts.query_rows, heads * rows);
    EXPECT_EQ(counts.covered_rows, heads * rows);
    EXPECT_EQ(counts.kv_rows,
              static_cast<double>(work.batch * work.kv_heads) * static_cast<double>(keys.size()));
  }
}

TEST(MaskBlocks, KeepTheirBitsAsText) {
  const BlockBits bits = bits_of_rows({"#.......#", ".#.......", "..#......", ".........", "#########",
                                       ".........", ".........", "........#", "........."});
  EXPECT_EQ(bits.text(),
            "8080400020000000ff8000000000008000"
            "00");
  EXPECT_EQ(BlockBits::from_text(9, bits.text()).hash(), bits.hash());
  for (const auto& [blocks, text] : {std::pair<std::int64_t, std::string>{9, "80"},
                                     {0, ""},
                                     {kMostMaskBlocks + 1, ""},
                                     {1, "8x"},
                                     {1, "40"}})
    EXPECT_THROW(BlockBits::from_text(blocks, text), UsageError) << blocks << " " << text;
}

TEST(MaskBlocks, DifferIfOneBitDoes) {
  std::set<std::uint64_t> hashes;
  for (std::int64_t blocks = 1; blocks < 12; ++blocks) {
    hashes.insert(BlockBits(blocks).hash());
    for (std::int64_t i = 0; i < blocks * blocks; ++i) {
      BlockBits bits(blocks);
      bits.set(i / blocks, i % blocks);
      hashes.insert(bits.hash());
    }
  }
  EXPECT_EQ(hashes.size(), 11u + 506u);
  Case a = masked(8, 4, {"#.", ".#"}), b = masked(8, 4, {"##", ".#"});
  EXPECT_NE(a, b);
  EXPECT_NE(case_id(a), case_id(b));
  b = a;
  EXPECT_EQ(a, b);
  b.mask_blocks.bits = nullptr;  // as a record holds it
  EXPECT_EQ(a, b);
}

TEST(MaskBlocks, StandInTheId) {
  Case work = masked(300, 64, {"#....", ".#...", "..#..", "...#.", "....#"});
  const std::string hash = mask_text(work.mask_blocks);
  ASSERT_EQ(hash.size(), 16u);
  EXPECT_EQ(case_id(work), "n300-m64." + hash.substr(0, 8) + "-h1-d64-fp32-p1-cpu");
  work.windows = {{.extent = 15}, {.extent = 20}};
  work.mask = Mask::causal;
  EXPECT_EQ(case_id(work), "g15x20-m64." + hash.substr(0, 8) + "-h1-d64-fp32-p1-cpu-causal.true");
}

TEST(MaskBlocks, SayWhatIsImpossible) {
  Case work = masked(10, 4, {"#.#", "...", "##."});
  EXPECT_EQ(why_not_windows(work), std::nullopt);
  work.sequence_length = 13;
  EXPECT_EQ(why_not_windows(work),
            "the mask has 3 x 3 blocks, 13 positions in blocks of 4 have 4; change mask_block, or leave "
            "sequence_length out");
  work.sequence_length = 10;
  work.edges = Edges::cut;
  EXPECT_EQ(why_not_windows(work), "edges: cut is for windows on a grid, the case has a mask");
  work.edges = Edges::shift;
  work.queries = Queries::dense;
  EXPECT_EQ(why_not_windows(work), "queries: dense is for branches, the case has a mask");
  work.queries = Queries::dilated;
  work.windows = {{.extent = 5}, {.extent = 3}};
  EXPECT_EQ(why_not_windows(work),
            "sequence_length 10 is not that of the grid: 5 x 3 = 15; leave sequence_length out");
  EXPECT_EQ(why_not_windows(masked(8, 4, {"..", ".."})), "the mask leaves every query without a key");
  Case later = masked(8, 4, {".#", ".."});
  EXPECT_EQ(why_not_windows(later), std::nullopt);
  later.mask = Mask::causal;
  EXPECT_EQ(why_not_windows(later), "the mask leaves every query without a key");
  later.mask_blocks.bits = nullptr;
  EXPECT_EQ(why_not_windows(later), std::nullopt);
  EXPECT_THROW(count_mask(later), std::logic_error);
}

}  // namespace
}  // namespace hilbench
