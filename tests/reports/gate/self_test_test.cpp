#include "reports/gate/self_test.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace hilbench {
namespace {

std::vector<EqualPairs> equal_pairs(double deviation, std::size_t pairs = 30, std::size_t cases = 16) {
  std::mt19937 engine(3);
  std::normal_distribution<double> noise(0, deviation);
  std::vector<EqualPairs> made(cases);
  for (EqualPairs& each : made)
    for (std::size_t i = 0; i < pairs; ++i) each.slowdowns.push_back(noise(engine));
  return made;
}

TEST(SelfTest, AQuietMachineSupportsTheDefaultThreshold) {
  const SelfTest test = self_test(equal_pairs(0.008), 0.025, 6, 200, 1);
  EXPECT_LE(test.false_alarms, 0.01);
  EXPECT_LE(test.undecided, 0.1);
  EXPECT_GE(test.power[1].found, 0.95) << "5 %";
  EXPECT_GE(test.power[2].found, 0.99) << "10 %";
  EXPECT_LE(test.power[0].found, 0.05) << "2 % is accepted";
  ASSERT_TRUE(test.supported);
  EXPECT_LE(*test.supported, 0.025);
  EXPECT_EQ(test.pairs, 30u);
}

TEST(SelfTest, ANoisyMachineSupportsALargerOneAndRaisesNoFalseAlarms) {
  const SelfTest test = self_test(equal_pairs(0.05), 0.025, 6, 200, 1);
  EXPECT_LE(test.false_alarms, 0.01);
  EXPECT_GE(test.undecided, 0.5);
  ASSERT_TRUE(test.supported);
  EXPECT_GE(*test.supported, 0.05);
  EXPECT_FALSE(self_test(equal_pairs(1), 0.025, 6, 50, 1).supported);
}

TEST(SelfTest, ThePairsAreKept) {
  const std::vector<EqualPairs> pairs = {{"n1", "a", {0, std::log(1.5)}}};
  EXPECT_EQ(equal_pairs_csv(pairs), "case,variant,slowdown\r\nn1,a,0\r\nn1,a,0.5\r\n");
}

TEST(SelfTest, NeedsPairs) {
  EXPECT_THROW(self_test({}, 0.025, 6, 10, 1), std::invalid_argument);
  EXPECT_THROW(self_test(equal_pairs(0.01, 1), 0.025, 6, 10, 1), std::invalid_argument);
}

}  // namespace
}  // namespace hilbench
