#include "kernels/orders/hilbert.hpp"

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cstddef>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

struct Point {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
};

// The textbook loop, one level of the curve at a time from the lowest.
Point textbook_point(std::uint32_t index, int k) {
  Point p;
  for (int level = 0; level < k; ++level) {
    const std::uint32_t side = 1u << level;
    const std::uint32_t right = (index >> (2 * level + 1)) & 1;
    const std::uint32_t down = ((index >> (2 * level)) & 1) ^ right;
    if (down == 0) {
      if (right == 1) p = {side - 1 - p.x, side - 1 - p.y};
      std::swap(p.x, p.y);
    }
    p.x += side * right;
    p.y += side * down;
  }
  return p;
}

struct Points {
  std::vector<std::uint16_t> x, y;
  explicit Points(std::size_t count) : x(count), y(count) {}
};

Points textbook_points(const std::vector<std::uint32_t>& index, int k) {
  Points points(index.size());
  for (std::size_t i = 0; i < index.size(); ++i) {
    const Point p = textbook_point(index[i], k);
    points.x[i] = static_cast<std::uint16_t>(p.x);
    points.y[i] = static_cast<std::uint16_t>(p.y);
  }
  return points;
}

void expect_parity(const std::vector<std::uint32_t>& index, int k) {
  const Points expected = textbook_points(index, k);
  std::vector<std::uint32_t> encoded(index.size());
  hilbert_encode(expected.x, expected.y, k, encoded);
  EXPECT_EQ(encoded, index) << "k = " << k;
  Points decoded(index.size());
  hilbert_decode(index, k, decoded.x, decoded.y);
  EXPECT_EQ(decoded.x, expected.x) << "k = " << k;
  EXPECT_EQ(decoded.y, expected.y) << "k = " << k;
}

// Runs the tests below on every instruction set of this machine, not only on the best.
class HilbertOnTarget : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { choose(GetParam()); }
  void TearDown() override { choose(0); }
  // 0: all that the machine supports.
  static void choose(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};
INSTANTIATE_TEST_SUITE_P(Targets, HilbertOnTarget, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& target) { return std::string(hwy::TargetName(target.param)); });

TEST_P(HilbertOnTarget, EqualsTheTextbookOnEveryPointOfSmallGrids) {
  for (int k = 0; k <= 8; ++k) {
    std::vector<std::uint32_t> index(std::size_t{1} << (2 * k));
    for (std::size_t i = 0; i < index.size(); ++i) index[i] = static_cast<std::uint32_t>(i);
    expect_parity(index, k);
  }
}

TEST_P(HilbertOnTarget, EqualsTheTextbookOnSampledPointsOfLargeGrids) {
  std::mt19937 engine(1);
  for (int k = 9; k <= 16; ++k) {
    std::vector<std::uint32_t> index(100003);
    for (auto& i : index) i = static_cast<std::uint32_t>(engine()) >> (32 - 2 * k);
    index.front() = 0;
    index.back() = 0xFFFFFFFFu >> (32 - 2 * k);
    expect_parity(index, k);
  }
}

TEST_P(HilbertOnTarget, AnyNumberOfPointsAndNothingPastThem) {
  for (std::size_t count = 0; count <= 70; ++count) {
    std::vector<std::uint32_t> index(count);
    for (std::size_t i = 0; i < count; ++i) index[i] = static_cast<std::uint32_t>(i * 977 % 65536);
    const Points expected = textbook_points(index, 8);
    std::vector<std::uint32_t> encoded(count + 1, 12345u);
    hilbert_encode(expected.x, expected.y, 8, std::span(encoded).first(count));
    EXPECT_EQ(encoded.back(), 12345u);
    encoded.pop_back();
    EXPECT_EQ(encoded, index);
    Points decoded(count + 1);
    decoded.x.back() = decoded.y.back() = 54321;
    hilbert_decode(index, 8, std::span(decoded.x).first(count), std::span(decoded.y).first(count));
    EXPECT_EQ(decoded.x.back(), 54321);
    EXPECT_EQ(decoded.y.back(), 54321);
  }
}

TEST(Hilbert, FollowsTheTableOfFourByFour) {
  const std::vector<std::uint32_t> ranks = {0, 1, 14, 15, 3, 2, 13, 12, 4, 7, 8, 11, 5, 6, 9, 10};
  Points points(16);
  for (std::size_t cell = 0; cell < 16; ++cell) {
    points.x[cell] = static_cast<std::uint16_t>(cell % 4);
    points.y[cell] = static_cast<std::uint16_t>(cell / 4);
  }
  std::vector<std::uint32_t> encoded(16);
  hilbert_encode(points.x, points.y, 2, encoded);
  EXPECT_EQ(encoded, ranks);
}

TEST(Hilbert, RefusesAnUnknownGridAndUnequalSpans) {
  std::vector<std::uint16_t> x(4), y(4);
  std::vector<std::uint32_t> index(4);
  EXPECT_THROW(hilbert_encode(x, y, 17, index), UsageError);
  EXPECT_THROW(hilbert_decode(index, -1, x, y), UsageError);
  EXPECT_THROW(hilbert_encode(x, std::span(y).first(3), 2, index), UsageError);
  EXPECT_THROW(hilbert_decode(std::span(index).first(3), 2, x, y), UsageError);
}

}  // namespace
}  // namespace hilbench
