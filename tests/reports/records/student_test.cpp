#include "reports/records/student.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hilbench {
namespace {

TEST(Student, QuantilesAreThoseOfPrintedTables) {
  EXPECT_NEAR(student_quantile(0.975, 1), 12.706, 5e-4);
  EXPECT_NEAR(student_quantile(0.975, 4), 2.776, 5e-4);
  EXPECT_NEAR(student_quantile(0.975, 19), 2.093, 5e-4);
  EXPECT_NEAR(student_quantile(0.95, 4), 2.132, 5e-4);
  EXPECT_NEAR(student_quantile(0.975, 4.6), 2.638, 5e-3) << "degrees of freedom of Welch are no integers";
}

TEST(Student, AgreesWithItsTable) {
  EXPECT_NEAR(student_quantile(0.975, 10), 2.228, 5e-4);
  EXPECT_NEAR(student_quantile(0.975, 11), 2.201, 5e-4);
  EXPECT_NEAR(student_quantile(0.975, 30), 2.042, 5e-4);
  EXPECT_NEAR(student_quantile(0.975, 1000), 1.962, 5e-4);
}

TEST(Student, TailIsTheInverseOfTheQuantile) {
  for (const double freedom : {1.0, 4.0, 19.0, 100.0})
    EXPECT_NEAR(student_above(student_quantile(0.975, freedom), freedom), 0.025, 1e-10);
  EXPECT_NEAR(student_above(0, 3), 0.5, 1e-12);
  EXPECT_EQ(student_above(std::numeric_limits<double>::infinity(), 3), 0);
  EXPECT_EQ(student_above(-std::numeric_limits<double>::infinity(), 3), 1);
}

// P(Binomial(n, 1/2) <= k), summed.
double at_most(std::size_t n, std::size_t k) {
  double sum = 0;
  for (std::size_t i = 0; i <= k; ++i)
    sum += std::exp(std::lgamma(n + 1.0) - std::lgamma(i + 1.0) - std::lgamma(n - i + 1.0) -
                    static_cast<double>(n) * std::log(2));
  return sum;
}

TEST(BinomialAtLeast, SumsTheTail) {
  EXPECT_EQ(binomial_at_least(0, 0, 0.05), 1);
  EXPECT_EQ(binomial_at_least(0, 20, 0.05), 1);
  for (std::size_t k = 1; k <= 20; ++k)
    EXPECT_NEAR(binomial_at_least(k, 20, 0.5), 1 - at_most(20, k - 1), 1e-12) << k;
  EXPECT_NEAR(binomial_at_least(1, 20, 0.05), 1 - std::pow(0.95, 20), 1e-12);
}

TEST(MedianIntervalRank, IsTheLargestThatCovers) {
  for (std::size_t n = 0; n < 6; ++n) EXPECT_FALSE(median_interval_rank(n)) << n;
  for (std::size_t n = 6; n <= 400; ++n) {
    const auto rank = median_interval_rank(n);
    ASSERT_TRUE(rank) << n;
    EXPECT_LE(at_most(n, *rank - 1), 0.025 + 1e-12) << n;
    EXPECT_GT(at_most(n, *rank), 0.025) << n;
  }
}

}  // namespace
}  // namespace hilbench
