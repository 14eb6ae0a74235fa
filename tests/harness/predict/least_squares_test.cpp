#include "harness/predict/least_squares.hpp"

#include <gtest/gtest.h>

namespace hilbench {
namespace {

TEST(LeastSquares, SolvesWhatIsDetermined) {
  const std::vector<double> x = nonnegative_least_squares({{1, 0}, {0, 2}, {1, 2}}, {3, 8, 11});
  EXPECT_NEAR(x[0], 3, 1e-12);
  EXPECT_NEAR(x[1], 4, 1e-12);
}

TEST(LeastSquares, HoldsUnknownsAtZeroRatherThanBelow) {
  // Without the bound: x = (3, -1). With it the best x0 is that of one unknown: 5/2.
  const std::vector<double> x = nonnegative_least_squares({{1, 0}, {1, 1}}, {3, 2});
  EXPECT_NEAR(x[0], 2.5, 1e-12);
  EXPECT_EQ(x[1], 0);
}

TEST(LeastSquares, UnknownsThatNothingTellsApartShareOnePlace) {
  const std::vector<double> x = nonnegative_least_squares({{1, 1, 0}, {2, 2, 0}}, {5, 10});
  EXPECT_NEAR(x[0] + x[1], 5, 1e-9);
  EXPECT_EQ(std::min(x[0], x[1]), 0);
  EXPECT_EQ(x[2], 0);
}

}  // namespace
}  // namespace hilbench
