#include "reports/records/stats.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <map>
#include <random>
#include <stdexcept>

namespace hilbench {
namespace {

// Noise like that of times, with median `centre`: log-normal, with a tail of slow samples.
std::vector<double> noisy(std::mt19937_64& engine, std::size_t count, double centre, double spread) {
  std::normal_distribution<double> normal(0, spread);
  std::vector<double> values(count);
  for (double& value : values) value = centre * std::exp(normal(engine));
  return values;
}

TEST(Median, OfOddEvenSingleAndNoValues) {
  EXPECT_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(median(std::vector<double>{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median(std::vector<double>{7}), 7);
  EXPECT_TRUE(std::isnan(median({})));
}

TEST(MedianInterval, OfEqualValuesIsAPoint) {
  const Interval interval = median_interval({{5, 5, 5, 5}, {4}}, 1);
  EXPECT_EQ(interval.low, 5);
  EXPECT_EQ(interval.high, 5);
  EXPECT_EQ(median_interval({{5}, {1}}, 1).low, 5);
}

TEST(MedianInterval, OfThreeValuesSpansThem) {
  // The median of a resample of {1, 2, 9} is 9 with probability 7/27, so both ends lie in the interval.
  const Interval interval = median_interval({{9, 1, 2}, {3}}, 1);
  EXPECT_EQ(interval.low, 1);
  EXPECT_EQ(interval.high, 9);
}

TEST(MedianInterval, MatchesTheExactBootstrapDistribution) {
  // 11 values: P(resampled median <= x_k) = P(Binomial(11, k/11) >= 6): 0.010 for k = 2, 0.062 for k = 3.
  std::vector<double> values;
  for (int i = 1; i <= 11; ++i) values.push_back(i);
  const Interval interval = median_interval({values, {11}}, 7);
  EXPECT_EQ(interval.low, 3);
  EXPECT_EQ(interval.high, 9);
}

TEST(MedianInterval, RepeatsForASeed) {
  std::mt19937_64 engine(3);
  const Rounds rounds{noisy(engine, 40, 100, 0.1), {20, 20}};
  const Interval a = median_interval(rounds, 9), b = median_interval(rounds, 9);
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.high, b.high);
}

double coverage(std::size_t count) {
  std::mt19937_64 engine(count);
  const int simulations = 1000;
  int covered = 0;
  for (int i = 0; i < simulations; ++i) {
    const Interval interval =
        median_interval({noisy(engine, count, 100, 0.05), {std::int64_t(count)}}, std::uint64_t(i));
    covered += interval.low <= 100 && 100 <= interval.high;
  }
  return covered / double(simulations);
}

TEST(MedianInterval, CoversTheTruthAsOftenAsItSays) {
  for (const std::size_t count : {10, 30}) {
    EXPECT_GE(coverage(count), 0.90) << count;
    EXPECT_LE(coverage(count), 0.99) << count;
  }
}

TEST(MedianInterval, OfSeveralProcessesHoldsTheirSpread) {
  // Two processes whose rounds agree but that differ from each other: by rounds alone the interval is too
  // narrow.
  Rounds rounds;
  for (int i = 0; i < 20; ++i) rounds.ns.push_back(100 + 0.01 * i);
  for (int i = 0; i < 22; ++i) rounds.ns.push_back(110 + 0.01 * i);
  rounds.process_rounds = {20, 22};
  const Interval hierarchical = median_interval(rounds, 1);
  EXPECT_LT(hierarchical.low, 101);
  EXPECT_GT(hierarchical.high, 110);
}

TEST(MedianInterval, RefusesRoundsThatDoNotAddUp) {
  EXPECT_THROW(median_interval({{1, 2, 3}, {2}}, 1), std::invalid_argument);
}

TEST(PairedRatio, IsTheMedianOfTheRatios) {
  const Ratio ratio = paired_ratio({{10, 20, 30}, {3}}, {{5, 20, 10}, {3}}, 1);
  EXPECT_EQ(ratio.value, 2);
  EXPECT_EQ(ratio.ci.low, 1);
  EXPECT_EQ(ratio.ci.high, 3);
}

TEST(PairedRatio, IsNotMovedByDriftThatBothShare) {
  Rounds reference, variant;
  for (int i = 0; i < 30; ++i) {
    const double drift = 1 + 0.1 * i;
    reference.ns.push_back(110 * drift);
    variant.ns.push_back(100 * drift);
  }
  reference.process_rounds = variant.process_rounds = {30};
  const Ratio ratio = paired_ratio(reference, variant, 1);
  EXPECT_NEAR(ratio.ci.low, 1.1, 1e-12);
  EXPECT_NEAR(ratio.ci.high, 1.1, 1e-12);
}

TEST(PairedRatio, RefusesRoundsThatDoNotPair) {
  EXPECT_THROW(paired_ratio({{1, 2}, {2}}, {{1, 2}, {1, 1}}, 1), std::invalid_argument);
  EXPECT_THROW(paired_ratio({{1, 2}, {2}}, {{1}, {1}}, 1), std::invalid_argument);
}

int verdicts(double slowdown, Verdict wanted) {
  std::mt19937_64 engine(5);
  int matching = 0;
  for (int i = 0; i < 200; ++i) {
    const Rounds reference{noisy(engine, 20, 100, 0.03), {20}};
    const Rounds variant{noisy(engine, 20, 100 * slowdown, 0.03), {20}};
    matching += verdict_of(paired_ratio(reference, variant, std::uint64_t(i)).ci) == wanted;
  }
  return matching;
}

TEST(PairedRatio, OfTheSameThingMostlyShowsNoDifference) {
  EXPECT_GE(verdicts(1.0, Verdict::inconclusive), 180);
}

TEST(PairedRatio, SeesATenPercentChange) {
  EXPECT_GE(verdicts(1.1, Verdict::slower), 195);
  EXPECT_GE(verdicts(1 / 1.1, Verdict::faster), 195);
}

TEST(Verdict, HoldsOneMeansNoDifference) {
  EXPECT_EQ(verdict_of({1.01, 1.2}), Verdict::faster);
  EXPECT_EQ(verdict_of({0.8, 0.99}), Verdict::slower);
  EXPECT_EQ(verdict_of({1.0, 1.2}), Verdict::inconclusive);
  EXPECT_EQ(verdict_of({0.8, 1.0}), Verdict::inconclusive);
}

TEST(Verdict, OneProcessDoesNotSettleTheSignOfLessThanOnePerCent) {
  EXPECT_FALSE(sign_settled({0.991, 0.996}, 1));
  EXPECT_FALSE(sign_settled({0.985, 0.995}, 1)) << "reaches into the one per cent";
  EXPECT_FALSE(sign_settled({1.002, 1.2}, 1));
  EXPECT_TRUE(sign_settled({0.985, 0.989}, 1));
  EXPECT_TRUE(sign_settled({1.011, 1.2}, 1));
  EXPECT_TRUE(sign_settled({0.999, 1.001}, 1)) << "takes no side";
  EXPECT_TRUE(sign_settled({0.991, 0.996}, 3));
}

TEST(RoundOrder, IsBalancedInPlaceAndSuccession) {
  for (std::size_t variants = 1; variants <= 12; ++variants) {
    std::map<std::pair<std::size_t, std::size_t>, int> placed, followed;
    for (std::size_t round = 0; round < 2 * variants; ++round) {
      const std::vector<std::size_t> order = round_order(variants, round);
      ASSERT_EQ(order.size(), variants);
      for (std::size_t place = 0; place < variants; ++place) {
        ++placed[{order[place], place}];
        if (place > 0) ++followed[{order[place - 1], order[place]}];
      }
    }
    EXPECT_EQ(placed.size(), variants * variants);
    for (const auto& [key, count] : placed) EXPECT_EQ(count, 2) << variants;
    EXPECT_EQ(followed.size(), variants * (variants - 1));
    for (const auto& [key, count] : followed) EXPECT_EQ(count, 2) << variants;
  }
  EXPECT_TRUE(round_order(0, 3).empty());
}

TEST(MedianInterval, IsQuickEnoughToAskForEveryRound) {
  std::mt19937_64 engine(1);
  const Rounds rounds{noisy(engine, 100, 100, 0.05), {100}};
  const auto begin = std::chrono::steady_clock::now();
  double sum = 0;
  for (std::uint64_t i = 0; i < 100; ++i) sum += median_interval(rounds, i).low;
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  EXPECT_GT(sum, 0);
  RecordProperty("ms_per_call", std::to_string(took.count() / 100));
  EXPECT_LT(took.count() / 100, 20);  // a sanitizer build on a busy machine passes; about 0.5 otherwise
}

TEST(UnpairedRatio, IsThatOfTheMediansWithBothSpreads) {
  Rounds slow, fast;
  for (int i = 0; i < 40; ++i) {
    slow.ns.push_back(200 + i % 7);
    fast.ns.push_back(100 + i % 5);
  }
  fast.ns.push_back(101);  // another number of samples
  const Ratio ratio = unpaired_ratio(slow, fast, 1);
  EXPECT_DOUBLE_EQ(ratio.value, median(slow.ns) / median(fast.ns));
  EXPECT_LE(ratio.ci.low, ratio.value);
  EXPECT_GE(ratio.ci.high, ratio.value);
  EXPECT_LT(ratio.ci.high - ratio.ci.low, 0.1);
  EXPECT_EQ(unpaired_ratio(slow, fast, 1).ci.low, ratio.ci.low) << "seeded";
  Rounds other = slow;  // one of two processes was slower; the interval must include that
  for (int i = 0; i < 40; ++i) other.ns.push_back(220 + i % 7);
  other.process_rounds = {40, 40};
  EXPECT_GT(unpaired_ratio(other, fast, 1).ci.high, 2.1);
  EXPECT_LT(unpaired_ratio(other, fast, 1).ci.low, 2.05);
  EXPECT_THROW(unpaired_ratio({}, fast, 1), std::invalid_argument);
}

}  // namespace
}  // namespace hilbench
