#include "reports/records/stats.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <map>
#include <random>
#include <stdexcept>

namespace hilbench {
namespace {

std::vector<double> counted(int count) {
  std::vector<double> values;
  for (int i = 1; i <= count; ++i) values.push_back(i);
  return values;
}

TEST(Median, OfOddEvenSingleAndNoValues) {
  EXPECT_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(median(std::vector<double>{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median(std::vector<double>{7}), 7);
  EXPECT_TRUE(std::isnan(median({})));
}

TEST(HodgesLehmann, IsTheCentreAndNotMovedByOutliers) {
  EXPECT_EQ(hodges_lehmann(std::vector<double>{7}), 7);
  EXPECT_EQ(hodges_lehmann(std::vector<double>{1, 3}), 2);
  EXPECT_EQ(hodges_lehmann(std::vector<double>{1, 2, 4}), 2.25);  // of 1, 1.5, 2, 2.5, 3, 4
  EXPECT_EQ(hodges_lehmann(std::vector<double>{1, 2, 3, 4, 1000}), 3);
  EXPECT_TRUE(std::isnan(hodges_lehmann({})));
}

TEST(ByProcess, SplitsTheRoundsOfEachProcess) {
  const Rounds rounds{{1, 2, 3, 4}, {3, 0, 1}};
  const auto processes = by_process(rounds);
  ASSERT_EQ(processes.size(), 2u) << "a process without rounds is none";
  EXPECT_EQ(processes[0].size(), 3u);
  EXPECT_EQ(processes[1].front(), 4);
  const Rounds one{{1, 2, 3}, {}}, few{{1, 2, 3}, {2}}, many{{1, 2}, {3}};
  EXPECT_EQ(by_process(one).size(), 1u);
  EXPECT_THROW(by_process(few), std::invalid_argument);
  EXPECT_THROW(by_process(many), std::invalid_argument);
}

TEST(MedianInterval, OfEqualValuesIsAPoint) {
  const Interval interval = median_interval({{5, 5, 5, 5}, {4}});
  EXPECT_DOUBLE_EQ(interval.low, 5);
  EXPECT_DOUBLE_EQ(interval.high, 5);
}

TEST(MedianInterval, OfOneValueIsUnknown) {
  EXPECT_TRUE(std::isnan(median_interval({{5}, {1}}).low));
  EXPECT_TRUE(std::isnan(median_interval({{5}, {1}}).high));
  EXPECT_TRUE(std::isnan(median_interval({{}, {}}).low));
}

TEST(MedianInterval, WithinOneProcessIsTheExactOneOfOrderStatistics) {
  // P(Binomial(11, 1/2) <= 1) = 12/2048 = 0.6 %, <= 2: 67/2048 = 3.3 %: the second smallest and largest.
  const Interval eleven = median_interval({counted(11), {11}});
  EXPECT_EQ(eleven.low, 2);
  EXPECT_EQ(eleven.high, 10);
  const Interval six = median_interval({counted(6), {6}});  // 1/64 on each side
  EXPECT_EQ(six.low, 1);
  EXPECT_EQ(six.high, 6);
}

TEST(MedianInterval, OfFewRoundsIsStudents) {
  // ln of the values is -0.1, 0, 0.1: mean 0, error 0.1 / sqrt(3), and 4.302653 is t for 2 degrees of
  // freedom.
  const Interval interval = median_interval({{std::exp(-0.1), 1, std::exp(0.1)}, {3}});
  EXPECT_NEAR(std::log(interval.high), 4.302653 * 0.1 / std::sqrt(3), 1e-6);
  EXPECT_NEAR(std::log(interval.low), -4.302653 * 0.1 / std::sqrt(3), 1e-6);
}

TEST(MedianInterval, OfSeveralProcessesIsStudentsOverTheirMedians) {
  // Processes whose rounds agree but that differ from each other: the interval is about the processes.
  const Rounds rounds{{100, 100, 100, 110, 110, 110, 121, 121, 121}, {3, 3, 3}};
  EXPECT_NEAR(time_median(rounds), 110, 1e-9) << "the geometric mean of the medians";
  const Interval interval = median_interval(rounds);
  EXPECT_NEAR(std::log(interval.high / 110), 4.302653 * std::log(1.1) / std::sqrt(3), 1e-6);
  EXPECT_NEAR(std::log(interval.low / 110), -4.302653 * std::log(1.1) / std::sqrt(3), 1e-6);
  EXPECT_EQ(time_median({{3, 1, 2}, {3}}), 2) << "of one process the median";
}

TEST(MedianInterval, CoversTheMedianOfSkewedRounds) {
  std::mt19937_64 engine(2);
  std::exponential_distribution<double> skewed(1);
  for (const std::size_t count : {6, 10, 30}) {
    int covered = 0;
    constexpr int kTrials = 4000;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> ns(count);
      for (double& value : ns) value = 100 * (1 + skewed(engine));
      const Interval interval = median_interval({ns, {static_cast<std::int64_t>(count)}});
      covered += interval.low <= 100 * (1 + std::log(2)) && 100 * (1 + std::log(2)) <= interval.high;
    }
    EXPECT_GE(covered, 0.94 * kTrials) << count;
    EXPECT_LE(covered, 0.99 * kTrials) << count << ": as narrow as the ranks allow";
  }
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
  const Rounds rounds{counted(100), {100}};
  const auto begin = std::chrono::steady_clock::now();
  double sum = 0;
  for (int i = 0; i < 100; ++i) sum += median_interval(rounds).low;
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  EXPECT_GT(sum, 0);
  RecordProperty("ms_per_call", std::to_string(took.count() / 100));
  EXPECT_LT(took.count() / 100, 20);  // a sanitizer build on a busy machine passes; about 0.02 otherwise
}

}  // namespace
}  // namespace hilbench
