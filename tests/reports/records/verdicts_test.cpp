#include "reports/records/verdicts.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace hilbench {
namespace {

// Of five processes: `value` with the standard error `error`.
Effect effect(double value, double error, std::size_t processes = 5) {
  const Mean mean{value, error, 4};
  return {.centre = value, .ci = mean_interval(mean), .mean = mean, .processes = processes};
}

TEST(Holm, AdjustsAsInTheTextbook) {
  const std::vector<double> adjusted = holm(std::vector<double>{0.01, 0.04, 0.03, 0.005});
  EXPECT_DOUBLE_EQ(adjusted[3], 0.02);
  EXPECT_DOUBLE_EQ(adjusted[0], 0.03);
  EXPECT_DOUBLE_EQ(adjusted[2], 0.06);
  EXPECT_DOUBLE_EQ(adjusted[1], 0.06) << "never below that of a smaller p";
  EXPECT_EQ(holm(std::vector<double>{0.7, 0.9})[1], 1);
  EXPECT_TRUE(holm({}).empty());
}

TEST(Verdict, AloneIsFasterJustWhenItsIntervalLiesAboveTheMargin) {
  const double reach = 2.776445 * 0.001, bound = std::log(1.01);
  EXPECT_EQ(verdict_of(effect(bound + reach * 1.001, 0.001), 0.01), Verdict::faster);
  EXPECT_EQ(verdict_of(effect(bound + reach * 0.999, 0.001), 0.01), Verdict::inconclusive);
  EXPECT_EQ(verdict_of(effect(-bound - reach * 1.001, 0.001), 0.01), Verdict::slower);
  EXPECT_EQ(verdict_of(effect(-bound - reach * 0.999, 0.001), 0.01), Verdict::inconclusive);
}

TEST(Verdict, EquivalentNeedsThe90PerCentIntervalInsideTheMargin) {
  const double reach = 2.131847 * 0.001, bound = std::log(1.01);
  EXPECT_EQ(verdict_of(effect(0, 0.001), 0.01), Verdict::equivalent);
  EXPECT_EQ(verdict_of(effect(bound - reach * 1.001, 0.001), 0.01), Verdict::equivalent);
  EXPECT_EQ(verdict_of(effect(bound - reach * 0.999, 0.001), 0.01), Verdict::inconclusive);
  EXPECT_EQ(verdict_of(effect(0, 0.01), 0.01), Verdict::inconclusive) << "holds 1, but settles nothing";
  EXPECT_EQ(verdict_of(effect(0.004, 0.001), 0.01), Verdict::equivalent)
      << "an interval that leaves 1 out may still be equivalent";
}

TEST(Verdict, WithinOneProcessIsNeverEquivalent) {
  EXPECT_EQ(verdict_of(effect(0, 0, 1), 0.01), Verdict::inconclusive);
  EXPECT_EQ(verdict_of(effect(0, 0, 2), 0.01), Verdict::equivalent);
  EXPECT_EQ(verdict_of(effect(0.2, 0.001, 1), 0.01), Verdict::faster);
  Effect skewed = effect(0.2, 0.001, 1);
  skewed.ci = {0, 0.3};  // the median may be 0, although the mean is not
  EXPECT_EQ(verdict_of(skewed, 0.01), Verdict::inconclusive);
}

TEST(Verdict, OfAnUnknownErrorIsInconclusive) {
  Effect unknown = effect(0.5, 0);
  unknown.mean.freedom = 0;
  unknown.ci = kUnknownInterval;
  EXPECT_EQ(verdict_of(unknown, 0.01), Verdict::inconclusive);
}

TEST(Verdicts, OfAFamilyAskMoreOfEach) {
  const Effect clear = effect(0.02, 0.002);  // p = 0.003 against 1 %
  EXPECT_EQ(verdict_of(clear, 0.01), Verdict::faster);
  std::vector<Effect> family(20, effect(0, 0.002));
  family[7] = clear;
  const std::vector<double> margins(20, 0.01);
  EXPECT_EQ(verdicts_of(family, margins)[7], Verdict::inconclusive) << "20 times 0.003";
  family[7] = effect(0.05, 0.002);
  EXPECT_EQ(verdicts_of(family, margins)[7], Verdict::faster);
  EXPECT_EQ(verdicts_of({&clear, 1}, {margins.data(), 1})[0], verdict_of(clear, 0.01));
}

TEST(Verdicts, UseTheMarginOfEach) {
  const std::vector<Effect> family(2, effect(0.03, 0.001));
  const std::vector<double> margins = {0.01, 0.05};
  EXPECT_EQ(verdicts_of(family, margins)[0], Verdict::faster);
  EXPECT_EQ(verdicts_of(family, margins)[1], Verdict::equivalent);
}

TEST(Verdict, OfAnExactRatioComparesItWithTheMargin) {
  EXPECT_EQ(verdict_of_exact(1.5, 0.01), Verdict::faster);
  EXPECT_EQ(verdict_of_exact(0.98, 0.01), Verdict::slower);
  EXPECT_EQ(verdict_of_exact(1.009, 0.01), Verdict::equivalent);
}

}  // namespace
}  // namespace hilbench
