#include "kernels/case/pattern.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace hilbench {
namespace {

// The counts by visiting everything, directly from the definition.
PatternCounts walked_work(const Case& work) {
  PatternCounts total;
  for (std::int64_t g = 0; g < work.kv_heads; ++g) {
    std::set<std::int64_t> keys_read;
    for (std::int64_t h = 0; h < work.heads; ++h) {
      if (h * work.kv_heads / work.heads != g) continue;
      std::set<std::int64_t> covered;
      for (std::size_t b = 0; b < work.pattern.size(); ++b) {
        const auto [w, r] = work.pattern[b];
        const auto branches = static_cast<std::int64_t>(work.pattern.size());
        const bool runs = work.branch_heads == BranchHeads::all ||
                          h * branches / work.heads == static_cast<std::int64_t>(b);
        if (!runs) continue;
        std::int64_t o = 0;
        if (work.head_offset == HeadOffset::modulo) o = g % r;
        if (work.head_offset == HeadOffset::contiguous) o = g / ((work.kv_heads + r - 1) / r);
        for (std::int64_t query = 0; query < work.sequence_length; ++query) {
          if (work.queries == Queries::dilated && query % w % r != o) continue;
          std::int64_t seen = 0;
          for (std::int64_t key = query / w * w; key < std::min((query / w + 1) * w, work.sequence_length);
               ++key) {
            if (key % w % r != o) continue;
            keys_read.insert(key);
            if (work.mask == Mask::full || key <= query) ++seen;
          }
          total.pairs += static_cast<double>(seen);
          total.query_rows += seen > 0 ? 1 : 0;
          if (seen > 0) covered.insert(query);
        }
      }
      total.covered_rows += static_cast<double>(covered.size());
    }
    total.kv_rows += static_cast<double>(keys_read.size());
  }
  const auto batch = static_cast<double>(work.batch);
  return {total.pairs * batch, total.query_rows * batch, total.kv_rows * batch, total.covered_rows * batch};
}

Case random_case(std::mt19937_64& random) {
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  Case work;
  work.sequence_length = pick(1, 130);
  work.pattern.clear();
  for (std::int64_t branches = pick(1, 4); branches > 0; --branches) {
    const std::int64_t length = pick(0, 1) != 0 ? std::int64_t{1} << pick(0, 7) : pick(1, 150);
    work.pattern.push_back(
        {length, std::min(length, pick(0, 1) != 0 ? std::int64_t{1} << pick(0, 4) : pick(1, 9))});
  }
  work.batch = pick(1, 2);
  work.heads = pick(1, 9);
  work.kv_heads = pick(1, work.heads);
  work.mask = pick(0, 1) != 0 ? Mask::causal : Mask::full;
  work.queries = pick(0, 1) != 0 ? Queries::dense : Queries::dilated;
  work.head_offset = static_cast<HeadOffset>(pick(0, 2));
  work.branch_heads = pick(0, 2) == 0 ? BranchHeads::partition : BranchHeads::all;
  return work;
}

TEST(CountWork, EqualsAWalkOverEverythingForRandomCases) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1500; ++i) {
    const Case work = random_case(random);
    SCOPED_TRACE("random case " + std::to_string(i) + ": " + case_id(work));
    const PatternCounts counted = count_work(work), walked = walked_work(work);
    ASSERT_EQ(counted.pairs, walked.pairs);
    ASSERT_EQ(counted.query_rows, walked.query_rows);
    ASSERT_EQ(counted.kv_rows, walked.kv_rows);
    ASSERT_EQ(counted.covered_rows, walked.covered_rows);
  }
}

// Two segments of 4, every second position: 2 x 2 pairs in each segment and head.
TEST(CountWork, ByHand) {
  const Case work{.sequence_length = 8, .pattern = {{4, 2}}, .heads = 2, .kv_heads = 2};
  const PatternCounts counted = count_work(work);
  EXPECT_EQ(counted.pairs, 16);
  EXPECT_EQ(counted.query_rows, 8);
  EXPECT_EQ(counted.kv_rows, 8);
  EXPECT_EQ(counted.covered_rows, 8);
  EXPECT_EQ(flops(work), 4 * 64 * 16);
  // K and V 8 rows each, Q 8, O 16, of 256 bytes; LSE 16 x 4 bytes.
  EXPECT_EQ(min_bytes(work), (8 + 8 + 8 + 16) * 256 + 64);
}

TEST(CountWork, BackwardIsTwoAndAHalfTimesForward) {
  Case work{.kv_heads = 8};
  const double forward = flops(work);
  work.pass = Pass::backward;
  EXPECT_EQ(flops(work), 2.5 * forward);
}

// Segments and sequences far longer than could be visited.
TEST(CountWork, HugeSequencesTakeTheSameFewSteps) {
  const std::int64_t n = std::int64_t{1} << 40;
  const Case nested{.sequence_length = n, .pattern = {{2, 2}, {n, 4}}, .heads = 1, .kv_heads = 1};
  EXPECT_EQ(count_work(nested).kv_rows, static_cast<double>(n / 2));
  const Case irregular{.sequence_length = n, .pattern = {{1000, 3}, {100000, 7}}, .heads = 1, .kv_heads = 1};
  const double rows = count_work(irregular).kv_rows;
  EXPECT_GT(rows, static_cast<double>(n) * 0.42);  // 1/3 + 1/7 - 1/21 = 0.429 of all
  EXPECT_LT(rows, static_cast<double>(n) * 0.44);
}

TEST(CountWork, UpperBoundWhereBordersNeverRepeat) {
  const std::int64_t n = std::int64_t{1} << 40;
  const Case work{.sequence_length = n, .pattern = {{999983, 2}, {1000003, 2}}, .heads = 1, .kv_heads = 1};
  EXPECT_EQ(count_work(work).kv_rows, static_cast<double>(n));
}

TEST(CountWork, ManyHeadsAreCountedInBlocks) {
  const Case work{.sequence_length = 16,
                  .pattern = {{16, 1}},
                  .heads = std::int64_t{1} << 40,
                  .kv_heads = std::int64_t{1} << 40};
  EXPECT_EQ(count_work(work).pairs, 256.0 * static_cast<double>(work.heads));
}

TEST(Offset, FollowsTheFourRules) {
  Case work{.pattern = {{16, 4}, {16, 2}, {16, 4}, {16, 2}}, .heads = 8, .kv_heads = 6};
  EXPECT_EQ(offset_of(work, 0, 5), 1);  // 5 mod 4
  work.head_offset = HeadOffset::contiguous;
  EXPECT_EQ(offset_of(work, 0, 5), 2);  // floor(5 / ceil(6 / 4))
  work.head_offset = HeadOffset::none;
  EXPECT_EQ(offset_of(work, 0, 5), 0);
  work.head_offset = HeadOffset::branch;
  EXPECT_EQ(offset_of(work, 0, 5), 0);
  EXPECT_EQ(offset_of(work, 1, 5), 1);
  EXPECT_EQ(offset_of(work, 2, 5), 2);  // 2 mod 4
  EXPECT_EQ(offset_of(work, 3, 5), 1);  // 3 mod 2
}

TEST(Heads, GroupsAndPartitionsRoundDown) {
  Case work{.pattern = {{4, 1}, {8, 2}, {16, 4}}, .heads = 8, .kv_heads = 3};
  work.branch_heads = BranchHeads::partition;
  const std::vector<std::int64_t> groups = {0, 0, 0, 1, 1, 1, 2, 2};
  for (std::int64_t head = 0; head < 8; ++head) {
    EXPECT_EQ(kv_head_of(work, head), groups[static_cast<std::size_t>(head)]);
    for (std::int64_t branch = 0; branch < 3; ++branch)
      EXPECT_EQ(head_runs_branch(work, head, branch), head * 3 / 8 == branch);
  }
}

}  // namespace
}  // namespace hilbench
