#include "kernels/case/windows.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "baselines/reference.hpp"
#include "kernels/case/pattern.hpp"
#include "tests/kernels/random_windows.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

Case grid(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& windows) {
  Case work{.heads = 1, .kv_heads = 1, .device = DeviceKind::cpu};
  for (std::size_t d = 0; d < extents.size(); ++d)
    work.windows.push_back({.extent = extents[d], .window = windows[d]});
  fill_in_windows(work);
  return work;
}

std::vector<std::int64_t> keys_of(const Case& work, const KeyBox& box) {
  std::vector<std::int64_t> keys = {0};
  for (std::size_t d = 0; d < work.windows.size(); ++d) {
    std::vector<std::int64_t> more;
    for (const std::int64_t slower : keys)
      for (std::int64_t i = 0; i < box[d].count; ++i)
        more.push_back(slower * work.windows[d].extent + box[d].first + i * box[d].step);
    keys = more;
  }
  return keys;
}

// The oracle, the closed forms and the count of pairs against the definition, key by key.
TEST(Windows, FollowTheDefinitionOnRandomGrids) {
  for (std::uint64_t seed = 0; seed < (kSanitized ? 50 : 500); ++seed) {
    Random random(seed);
    const Case work = random_windows(random, 14);
    ASSERT_EQ(why_not_windows(work), std::nullopt) << "seed " << seed;
    double pairs = 0;
    for (std::int64_t position = 0; position < work.sequence_length; ++position) {
      const std::vector<std::int64_t> expected = defined_mask(work, position);
      ASSERT_EQ(visible_keys(work, 0, 0, position), expected) << case_id(work) << " at " << position;
      std::vector<std::int64_t> boxed;
      for (const KeyBox& box : visible_boxes(work, position)) {
        const auto keys = keys_of(work, box);
        boxed.insert(boxed.end(), keys.begin(), keys.end());
      }
      std::sort(boxed.begin(), boxed.end());
      ASSERT_EQ(boxed, expected) << case_id(work) << " at " << position;
      ASSERT_EQ(visible_count(work, position), std::ssize(expected));
      ASSERT_TRUE(std::binary_search(expected.begin(), expected.end(), position)) << "a query sees itself";
      pairs += static_cast<double>(expected.size());
    }
    EXPECT_EQ(window_pairs(work), pairs) << case_id(work);
  }
}

// By hand: NATTEN's examples of one dimension of 10, as a grid of one row.
TEST(Windows, OneDimensionByHand) {
  const auto keys = [](WindowDimension dimension, Edges edges, std::int64_t c) {
    dimension.extent = 10;
    return selected_keys(dimension, edges, c);
  };
  EXPECT_EQ(keys({.window = 3}, Edges::shift, 0), (KeyRange{0, 1, 3}));
  EXPECT_EQ(keys({.window = 3}, Edges::cut, 0), (KeyRange{0, 1, 2}));
  EXPECT_EQ(keys({.window = 3}, Edges::shift, 5), (KeyRange{4, 1, 3}));
  EXPECT_EQ(keys({.window = 4}, Edges::shift, 5), (KeyRange{3, 1, 4}));  // two before, one after
  EXPECT_EQ(keys({.window = 3}, Edges::shift, 9), (KeyRange{7, 1, 3}));
  EXPECT_EQ(keys({.window = 3, .dilation = 2}, Edges::shift, 5), (KeyRange{3, 2, 3}));
  EXPECT_EQ(keys({.window = 3, .dilation = 3}, Edges::shift, 0), (KeyRange{0, 3, 3}));
  EXPECT_EQ(keys({.window = 4, .stride = 2}, Edges::shift, 4), (KeyRange{3, 1, 4}));  // led by 5
  EXPECT_EQ(keys({.window = 4, .stride = 2}, Edges::shift, 5), (KeyRange{3, 1, 4}));
  EXPECT_EQ(keys({.window = 3, .causal = true}, Edges::shift, 5), (KeyRange{3, 1, 3}));
  EXPECT_EQ(keys({.window = 3, .causal = true}, Edges::shift, 1), (KeyRange{0, 1, 2}));
  EXPECT_EQ(keys({.window = 4, .stride = 2, .causal = true}, Edges::shift, 4), (KeyRange{2, 1, 3}));
}

// Shares of all pairs of windows that published work uses.
TEST(Windows, CountsOfKnownGrids) {
  const auto share = [](const Case& work) {
    const auto positions = static_cast<double>(work.sequence_length);
    return 100 * window_pairs(work) / (positions * positions);
  };
  EXPECT_NEAR(share(grid({128, 128}, {13, 13})), 1.03, 0.005);
  EXPECT_NEAR(share(grid({128, 128}, {31, 31})), 5.87, 0.005);
  EXPECT_NEAR(share(grid({32, 48, 80}, {18, 24, 24})), 8.44, 0.005);
}

TEST(Windows, FlopsAndBytesAreThoseOfAllHeads) {
  Case work = grid({8, 6}, {3, 3});
  work.batch = 2, work.heads = 4, work.kv_heads = 2, work.head_dim = 16;
  const PatternCounts counts = count_work(work);
  EXPECT_EQ(counts.pairs, 2 * 4 * 48 * 9);
  EXPECT_EQ(flops(work), 4 * 16 * counts.pairs);
  EXPECT_EQ(counts.query_rows, 2 * 4 * 48);
  EXPECT_EQ(counts.kv_rows, 2 * 2 * 48);
  EXPECT_EQ(counts.covered_rows, 2 * 4 * 48);
}

TEST(Windows, StandInTheIdOfTheirCase) {
  Case work = grid({32, 48, 80}, {18, 24, 24});
  EXPECT_EQ(case_id(work), "g32x48x80-win18x24x24-h1-d64-fp32-p1-cpu");
  work.windows[0].dilation = 2;
  work.windows[2].causal = true;
  work.edges = Edges::cut;
  work.mask = Mask::causal;
  EXPECT_EQ(case_id(work),
            "g32x48x80-win18x24x24-h1-d64-fp32-p1-cpu-causal.true-edges.cut-window_dilation.2x1x1-"
            "window_causal.false.false.true");
}

TEST(Windows, SayWhyTheyAreImpossible) {
  const auto why = [](Case work, auto change) {
    change(work);
    return why_not_windows(work);
  };
  const Case good = grid({10, 12}, {5, 4});
  EXPECT_EQ(why_not_windows(good), std::nullopt);
  EXPECT_EQ(why(good, [](Case& work) { work.sequence_length = 121; }),
            "sequence_length 121 is not that of the grid: 10 x 12 = 120; leave sequence_length out");
  EXPECT_EQ(
      why(good, [](Case& work) { work.windows[0].dilation = 3; }),
      "window 5 with window_dilation 3 does not fit into 10 positions of the grid; edges: cut allows it");
  EXPECT_EQ(why(good,
                [](Case& work) {
                  work.windows[0].dilation = 3;
                  work.edges = Edges::cut;
                }),
            std::nullopt);
  EXPECT_EQ(why(good, [](Case& work) { work.windows[1].stride = 5; }),
            "window_stride 5 is above window 4: some queries would be outside of their window");
  EXPECT_EQ(why(good, [](Case& work) { work.queries = Queries::dense; }),
            "queries: dense is for branches, the case has windows on a grid");
  EXPECT_EQ(why_not_windows({.edges = Edges::cut}),
            "edges: cut is for windows, write grid: [H, W] and window: [w, w] too");
}

}  // namespace
}  // namespace hilbench
