#include "reports/records/effect.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "reports/records/student.hpp"

namespace hilbench {
namespace {

TEST(PairedEffect, WithinOneProcessIsTheMedianOfTheRounds) {
  const Ratio ratio =
      ratio_of(paired_effect({{10, 20, 30, 40, 50, 60}, {6}}, {{5, 10, 10, 20, 50, 60}, {6}}));
  EXPECT_DOUBLE_EQ(ratio.value, 2);
  EXPECT_DOUBLE_EQ(ratio.ci.low, 1);
  EXPECT_DOUBLE_EQ(ratio.ci.high, 3);
}

TEST(PairedEffect, OfSeveralProcessesIsStudentsOverTheirMedians) {
  // Medians of the ratios in the processes: 1.1, 1.2, 1.3; wild rounds do not matter.
  const Rounds reference{{110, 110, 900, 120, 120, 120, 130, 130, 1}, {3, 3, 3}};
  const Rounds variant{{100, 100, 100, 100, 100, 100, 100, 100, 100}, {3, 3, 3}};
  const Effect effect = paired_effect(reference, variant);
  const double a = std::log(1.1), b = std::log(1.2), c = std::log(1.3), mean = (a + b + c) / 3;
  const double error =
      std::sqrt(((a - mean) * (a - mean) + (b - mean) * (b - mean) + (c - mean) * (c - mean)) / 2 / 3);
  EXPECT_EQ(effect.processes, 3u);
  EXPECT_NEAR(effect.centre, mean, 1e-12);
  EXPECT_NEAR(effect.ci.low, mean - 4.302653 * error, 1e-6);
  EXPECT_NEAR(effect.ci.high, mean + 4.302653 * error, 1e-6);
  EXPECT_NEAR(p_above(effect, 0), student_above(mean / error, 2), 1e-12);
  EXPECT_NEAR(p_below(effect, 0), 1 - student_above(mean / error, 2), 1e-12);
}

TEST(PairedEffect, IsNotMovedByDriftThatBothShare) {
  Rounds reference, variant;
  for (int i = 0; i < 30; ++i) {
    const double drift = 1 + 0.1 * i;
    reference.ns.push_back(110 * drift);
    variant.ns.push_back(100 * drift);
  }
  const Ratio ratio = ratio_of(paired_effect(reference, variant));
  EXPECT_NEAR(ratio.ci.low, 1.1, 1e-12);
  EXPECT_NEAR(ratio.ci.high, 1.1, 1e-12);
}

TEST(PairedEffect, IsSymmetric) {
  const Rounds a{{10, 12, 11, 13, 12, 11, 10, 15}, {4, 4}}, b{{9, 13, 11, 12, 10, 11, 12, 14}, {4, 4}};
  const Effect forth = paired_effect(a, b), back = paired_effect(b, a);
  EXPECT_NEAR(forth.centre, -back.centre, 1e-12);
  EXPECT_NEAR(forth.ci.low, -back.ci.high, 1e-12);
  EXPECT_NEAR(p_above(forth, 0.01), p_below(back, -0.01), 1e-12);
}

TEST(PairedEffect, RefusesRoundsThatDoNotPair) {
  EXPECT_THROW(paired_effect({{1, 2}, {2}}, {{1, 2}, {1, 1}}), std::invalid_argument);
  EXPECT_THROW(paired_effect({{1, 2}, {2}}, {{1}, {1}}), std::invalid_argument);
  EXPECT_THROW(paired_effect({}, {}), std::invalid_argument);
}

TEST(PairedEffect, OfOneRoundHasNoInterval) {
  const Effect effect = paired_effect({{20}, {1}}, {{10}, {1}});
  EXPECT_DOUBLE_EQ(effect.centre, std::log(2));
  EXPECT_TRUE(std::isnan(effect.ci.low));
  EXPECT_EQ(p_above(effect, 0), 1);
  EXPECT_EQ(p_below(effect, 0), 1);
}

TEST(UnpairedEffect, OfSeveralProcessesIsWelchs) {
  // ln of the medians: 0.0, 0.2 and 0.5, 0.6, 0.7. Welch by hand: variances of the means 0.01 and 1/300.
  const Rounds reference{{std::exp(0.5), std::exp(0.6), std::exp(0.7)}, {1, 1, 1}};
  const Rounds variant{{1, std::exp(0.2)}, {1, 1}};
  const Effect effect = unpaired_effect(reference, variant);
  const double both = 0.01 + 1 / 300.0;
  EXPECT_NEAR(effect.centre, 0.5, 1e-12);
  EXPECT_NEAR(effect.mean.error, std::sqrt(both), 1e-12);
  EXPECT_NEAR(effect.mean.freedom, both * both / (1e-4 / 1 + 1 / 9e4 / 2), 1e-9);
  EXPECT_EQ(effect.processes, 2u);
}

TEST(UnpairedEffect, OneProcessAgainstSeveralVariesAsTheyDo) {
  const Rounds several{{1, std::exp(0.2), std::exp(0.4)}, {1, 1, 1}}, one{{std::exp(1)}, {1}};
  const Effect effect = unpaired_effect(several, one);
  EXPECT_NEAR(effect.centre, 0.2 - 1, 1e-12);
  EXPECT_NEAR(effect.mean.error, 0.2 * std::sqrt(1 + 1 / 3.0), 1e-12);
  EXPECT_EQ(effect.processes, 1u);
  EXPECT_NEAR(unpaired_effect(one, several).centre, 1 - 0.2, 1e-12);
}

TEST(UnpairedEffect, WithinOneProcessEachHoldsBothSpreads) {
  Rounds slow, fast;
  for (int i = 0; i < 40; ++i) {
    slow.ns.push_back(200 + i % 7);
    fast.ns.push_back(100 + i % 5);
  }
  fast.ns.push_back(101);  // another number of samples
  const Effect effect = unpaired_effect(slow, fast);
  const Ratio ratio = ratio_of(effect);
  EXPECT_NEAR(ratio.value, median(slow.ns) / median(fast.ns), 1e-3);
  const Interval of_slow = median_interval(slow), of_fast = median_interval(fast);
  EXPECT_LT(ratio.ci.low, ratio.value * of_slow.low / median(slow.ns));
  EXPECT_GT(ratio.ci.high, ratio.value * median(fast.ns) / of_fast.low);
  EXPECT_GT(ratio.ci.low, of_slow.low / of_fast.high) << "both ends at once are less likely";
  EXPECT_THROW(unpaired_effect({}, fast), std::invalid_argument);
}

TEST(CountEffect, TakesEveryCountAsAUnit) {
  const std::vector<double> a = {100, 110, 121}, b = {200, 220, 242};
  const Effect effect = count_effect(a, b);
  EXPECT_NEAR(effect.centre, -std::log(2), 1e-12);
  EXPECT_NEAR(effect.mean.freedom, 4, 1e-9);
  EXPECT_EQ(effect.processes, 3u);
}

}  // namespace
}  // namespace hilbench
