#include "kernels/traversals/traversal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

using Tile = std::pair<std::int32_t, std::int32_t>;

double triangle(std::int64_t x, std::int64_t) {
  return static_cast<double>(x);
}

std::vector<Tile> tiles_of(std::string_view name, std::int64_t columns, std::int64_t rows,
                           std::optional<std::int64_t> param = {}) {
  std::vector<Tile> tiles;
  for (const TileVisit& visit : traverse(name, param, columns, rows, triangle))
    tiles.emplace_back(visit.x, visit.y);
  return tiles;
}

TEST(Traversal, VisitsEveryTileOfAnyGridOnce) {
  for (const TraversalInfo& info : traversals())
    for (const auto& [columns, rows] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1},
                                                                                          {1, 7},
                                                                                          {7, 1},
                                                                                          {3, 5},
                                                                                          {5, 3},
                                                                                          {8, 8},
                                                                                          {13, 17},
                                                                                          {33, 8},
                                                                                          {1000, 3},
                                                                                          {3, 1000},
                                                                                          {129, 65}}) {
      if (info.name == "auto") continue;  // stands for one of the others
      const std::vector<Tile> tiles = tiles_of(info.name, columns, rows);
      const std::set<Tile> distinct(tiles.begin(), tiles.end());
      ASSERT_EQ(static_cast<std::int64_t>(tiles.size()), columns * rows) << info.name;
      ASSERT_EQ(distinct.size(), tiles.size()) << info.name;
      for (const auto& [x, y] : tiles) ASSERT_TRUE(x >= 0 && x < columns && y >= 0 && y < rows) << info.name;
    }
}

TEST(Traversal, SmallGridsByHand) {
  EXPECT_EQ(tiles_of("head_major", 3, 2),
            (std::vector<Tile>{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}}));
  EXPECT_EQ(tiles_of("head_minor", 3, 2),
            (std::vector<Tile>{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}}));
  EXPECT_EQ(tiles_of("grouped", 3, 2, 2),
            (std::vector<Tile>{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {2, 1}}));
  EXPECT_EQ(tiles_of("longest_first", 3, 2),
            (std::vector<Tile>{{2, 0}, {2, 1}, {1, 0}, {1, 1}, {0, 0}, {0, 1}}));
  EXPECT_EQ(tiles_of("morton", 3, 2), (std::vector<Tile>{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {2, 1}}));
  EXPECT_EQ(tiles_of("hilbert", 2, 2), (std::vector<Tile>{{0, 0}, {0, 1}, {1, 1}, {1, 0}}));
}

TEST(Traversal, GroupsAreOfEightUnlessGiven) {
  EXPECT_EQ(tiles_of("grouped", 20, 3), tiles_of("grouped", 20, 3, 8));
  EXPECT_NE(tiles_of("grouped", 20, 3), tiles_of("grouped", 20, 3, 4));
  EXPECT_EQ(tiles_of("grouped", 20, 3, 100), tiles_of("head_major", 20, 3));
  EXPECT_EQ(tiles_of("grouped", 20, 3, std::int64_t{1} << 40), tiles_of("head_major", 20, 3))
      << "whatever a sweep may say";
}

TEST(Traversal, LongestFirstTakesAllHeadsUnlessGiven) {
  EXPECT_EQ(tiles_of("longest_first", 2, 3, 2),
            (std::vector<Tile>{{1, 0}, {1, 1}, {0, 0}, {0, 1}, {1, 2}, {0, 2}}));
  EXPECT_EQ(tiles_of("longest_first", 20, 3), tiles_of("longest_first", 20, 3, 3));
  EXPECT_EQ(tiles_of("longest_first", 20, 3), tiles_of("longest_first", 20, 3, std::int64_t{1} << 40));
}

TEST(Traversal, AutoMustBeResolvedFirst) {
  EXPECT_THROW(traverse("auto", {}, 5, 3, triangle), UsageError);
}

TEST(Traversal, OnlySawtoothScansBackwards) {
  for (const TraversalInfo& info : traversals()) {
    if (info.name == "auto") continue;
    const std::vector<TileVisit> visits = traverse(info.name, {}, 5, 3, triangle);
    for (std::size_t i = 0; i < visits.size(); ++i) {
      const bool odd =
          info.name == "sawtooth" ? i % 2 == 1 : info.name == "sawtooth_tile" && visits[i].x % 2 == 1;
      EXPECT_EQ(visits[i].keys_backwards, odd) << info.name;
    }
  }
  EXPECT_EQ(tiles_of("sawtooth", 5, 3), tiles_of("head_major", 5, 3));
}

// 15 tiles: waves 0-3, 4-7, 8-11, 12-14.
TEST(Traversal, SawtoothTurnsRoundWithEveryWave) {
  const std::vector<TileVisit> visits = traverse("sawtooth", 4, 5, 3, triangle);
  for (std::size_t i = 0; i < visits.size(); ++i)
    EXPECT_EQ(visits[i].keys_backwards, i / 4 == 1 || i / 4 == 3) << i;
}

TEST(Traversal, HilbertGoesFromNeighbourToNeighbour) {
  const std::vector<Tile> tiles = tiles_of("hilbert", 33, 8);
  int diagonal = 0;
  for (std::size_t i = 1; i < tiles.size(); ++i) {
    const int columns = std::abs(tiles[i].first - tiles[i - 1].first);
    const int rows = std::abs(tiles[i].second - tiles[i - 1].second);
    EXPECT_LE(std::max(columns, rows), 1);
    diagonal += columns + rows == 2;
  }
  EXPECT_LE(diagonal, 1);
}

TEST(Traversal, RefusesUnknownNamesParamsAndGrids) {
  EXPECT_THROW(tiles_of("head_mayor", 2, 2), UsageError);
  EXPECT_THROW(tiles_of("grouped", 2, 2, 0), UsageError);
  EXPECT_THROW(tiles_of("hilbert", 2, 2, 4), UsageError);
  EXPECT_THROW(tiles_of("head_major", -1, 2), UsageError);
  EXPECT_THROW(tiles_of("head_major", std::int64_t{1} << 40, std::int64_t{1} << 40), UsageError);
  EXPECT_THROW(tiles_of("head_major", std::int64_t{1} << 20, std::int64_t{1} << 12), UsageError);
  EXPECT_TRUE(tiles_of("head_major", 0, 2).empty());
}

}  // namespace
}  // namespace hilbench
