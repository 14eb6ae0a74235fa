#include "reports/gate/decide.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace hilbench {
namespace {

constexpr std::size_t kCases = 32;

TEST(Decide, NeedsSeveralProcesses) {
  const GateRule rule = gate_rule(0.025, kCases).at(0);
  EXPECT_EQ(decide({}, rule), GateVerdict::undecided);
  EXPECT_EQ(decide(mean_of(std::vector{0.5}), rule), GateVerdict::undecided);
  EXPECT_TRUE(std::isinf(smallest_seen(mean_of(std::vector{0.5}), rule)));
}

TEST(Decide, FollowsTheBounds) {
  const GateRule rule = gate_rule(0.025, kCases).at(0);
  const auto around = [](double centre, double spread) {
    return mean_of(
        std::vector{centre - spread, centre + spread, centre, centre - spread, centre + spread, centre});
  };
  EXPECT_EQ(decide(around(0, 0.002), rule), GateVerdict::ok);
  EXPECT_EQ(decide(around(0.1, 0.002), rule), GateVerdict::slower);
  EXPECT_EQ(decide(around(-0.1, 0.002), rule), GateVerdict::faster);
  EXPECT_EQ(decide(around(0.026, 0.002), rule), GateVerdict::undecided) << "too near the threshold";
  EXPECT_EQ(decide(around(0, 0.05), rule), GateVerdict::undecided) << "too wide";
}

TEST(Decide, IsNeverOkIfTheThresholdCouldNotHaveBeenSeen) {
  std::mt19937 engine(1);
  const GateRule rule = gate_rule(0.025, kCases).at(0);
  int ok = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::normal_distribution<double> noise(0, 0.001 * (1 + trial % 40));
    std::vector<double> values(6);
    for (double& value : values) value = noise(engine);
    const Mean mean = mean_of(values);
    if (decide(mean, rule) != GateVerdict::ok) continue;
    ++ok;
    EXPECT_LE(smallest_seen(mean, rule), rule.threshold);
  }
  EXPECT_GT(ok, 300);
}

// A slowdown of exactly the threshold is the worst that must not raise an alarm. The levels of all looks
// together, squared for two rounds, times the cases, are the error of the whole gate.
TEST(Decide, TheLevelOfALookHoldsAtTheThreshold) {
  std::mt19937 engine(2);
  const GateRule rule = gate_rule(0.025, kCases).at(0);
  double all_looks = 0;
  for (std::size_t look = 0; look < kLooks.size(); ++look) {
    all_looks += gate_rule(0.025, kCases).at(look).alarm_level;
    if (look > 0) EXPECT_GT(pairs_at(look, 6), pairs_at(look - 1, 6));
  }
  EXPECT_NEAR(std::pow(all_looks, 2) * kCases, kFalseAlarms, 1e-12);
  std::normal_distribution<double> noise(std::log1p(rule.threshold), 0.01);
  constexpr int kTrials = 40000;
  int alarms = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values(6);
    for (double& value : values) value = noise(engine);
    alarms += decide(mean_of(values), rule) == GateVerdict::slower ? 1 : 0;
  }
  const double rate = static_cast<double>(alarms) / kTrials;
  EXPECT_NEAR(rate, rule.alarm_level, 4 * std::sqrt(rule.alarm_level / kTrials));
}

}  // namespace
}  // namespace hilbench
