#include "kernels/ring/shards.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/kernels/ring/ring_cases.hpp"

namespace hilbench {
namespace {

std::vector<std::int64_t> positions_of(const Shards& shards, std::int64_t rank) {
  std::vector<std::int64_t> positions;
  for (std::int64_t row = 0; row < shards.count(rank); ++row) positions.push_back(shards.position(rank, row));
  return positions;
}

using Positions = std::vector<std::int64_t>;

TEST(Shards, ByHand) {
  const Shards contiguous(Sharding::contiguous, 11, 3);
  EXPECT_EQ(positions_of(contiguous, 0), (Positions{0, 1, 2, 3}));
  EXPECT_EQ(positions_of(contiguous, 1), (Positions{4, 5, 6, 7}));
  EXPECT_EQ(positions_of(contiguous, 2), (Positions{8, 9, 10}));
  const Shards zigzag(Sharding::zigzag, 11, 2);  // chunks 0-2, 3-5, 6-8, 9-10
  EXPECT_EQ(positions_of(zigzag, 0), (Positions{0, 1, 2, 9, 10}));
  EXPECT_EQ(positions_of(zigzag, 1), (Positions{3, 4, 5, 6, 7, 8}));
  const Shards striped(Sharding::striped, 7, 3);
  EXPECT_EQ(positions_of(striped, 0), (Positions{0, 3, 6}));
  EXPECT_EQ(positions_of(striped, 2), (Positions{2, 5}));
}

TEST(Shards, EveryPositionHasOneOwner) {
  for (const Sharding sharding : kShardings)
    for (const std::int64_t ranks : kRingSizes)
      for (std::int64_t length = 1; length < 40; ++length) {
        const Shards shards(sharding, length, ranks);
        Positions all;
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
          const Positions own = positions_of(shards, rank);
          EXPECT_TRUE(std::is_sorted(own.begin(), own.end()));
          for (const std::int64_t t : own) EXPECT_EQ(shards.owner(t), rank);
          for (std::int64_t t = 0; t <= length; ++t)
            EXPECT_EQ(shards.rows_below(rank, t), std::lower_bound(own.begin(), own.end(), t) - own.begin());
          all.insert(all.end(), own.begin(), own.end());
        }
        std::sort(all.begin(), all.end());
        Positions expected(static_cast<std::size_t>(length));
        for (std::int64_t t = 0; t < length; ++t) expected[static_cast<std::size_t>(t)] = t;
        ASSERT_EQ(all, expected);
      }
}

// The rows at any equally spaced positions, found by checking each position.
TEST(Shards, RowsOfProgressions) {
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::int64_t length = between(random, 1, 60), ranks = between(random, 1, 9);
    const Shards shards(one_of(random, {Sharding::contiguous, Sharding::zigzag, Sharding::striped}), length,
                        ranks);
    const std::int64_t rank = between(random, 0, ranks - 1), first = between(random, 0, length - 1),
                       step = between(random, 1, 12), end = between(random, first, length);
    Positions expected, found;
    for (std::int64_t t = first; t < end; t += step)
      if (shards.owner(t) == rank) expected.push_back(t);
    for (std::int64_t stretch = 0; stretch < shards.stretches(); ++stretch) {
      const Stretch rows = shards.rows_of(rank, stretch, first, step, end);
      for (std::int64_t j = 0; j < rows.count; ++j)
        found.push_back(shards.position(rank, rows.row + j * rows.step));
    }
    ASSERT_EQ(found, expected) << "length " << length << " ranks " << ranks << " rank " << rank << " first "
                               << first << " step " << step << " end " << end;
  }
}

}  // namespace
}  // namespace hilbench
