#include "kernels/case/coverage.hpp"

#include <gtest/gtest.h>

namespace hilbench {
namespace {

// Even positions and multiples of 3 below 12: 0 2 3 4 6 8 9 10.
TEST(DistinctCount, UnionOfResidueClasses) {
  EXPECT_EQ(distinct_count({{12, 2, 0}, {12, 3, 0}}, 12), 8);
}

// Segments of 5 with every second position: 0 2 4 | 5 7 9, and of 10 with every third from 1: 1 4 7.
TEST(DistinctCount, SegmentsThatTheDilationDoesNotDivide) {
  EXPECT_EQ(distinct_count({{5, 2, 0}, {10, 3, 1}}, 10), 7);
  EXPECT_EQ(distinct_count({{5, 2, 0}, {10, 3, 1}}, 1000), 700);
  EXPECT_EQ(distinct_count({{5, 2, 0}, {10, 3, 1}}, 8), 6);  // 0 1 2 4 5 7
}

// From offset 2 in segments of 4 and from 1 in segments of 6, of 12: uncovered are 0 alone (6 is 2 of 4..7).
TEST(DistinctCount, CoversFromAnOffsetOn) {
  EXPECT_EQ(distinct_count({{4, 1, 2, true}, {6, 1, 1, true}}, 12), 11);
}

TEST(DistinctCount, NoCoverAndNoPosition) {
  EXPECT_EQ(distinct_count({}, 10), 0);
  EXPECT_EQ(distinct_count({{4, 2, 1}, {4, 2, 0}}, 0), 0);
}

// Offsets larger than a stretch, and classes whose common members are after the end.
TEST(DistinctCount, ClassesThatNeverMeet) {
  EXPECT_EQ(distinct_count({{1000, 1000, 999}, {1000, 500, 7}}, 1000), 3);
}

}  // namespace
}  // namespace hilbench
