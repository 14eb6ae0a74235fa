// How often intervals and verdicts are right, by simulation with known truth. A process multiplies the times
// of a variant by a factor of its own, and each of its rounds by another; that is what is drawn here.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <random>

#include "reports/records/verdicts.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

using Noise = std::function<double(std::mt19937_64&)>;  // ln of the factor of one process
constexpr std::size_t kRounds = 5;
constexpr double kRoundSpread = 0.01;

Noise normal(double spread) {
  return [spread](std::mt19937_64& engine) { return std::normal_distribution<double>(0, spread)(engine); };
}
// A tail of slow processes.
Noise skewed(double spread) {
  return
      [spread](std::mt19937_64& engine) { return std::exponential_distribution<double>(1 / spread)(engine); };
}
// A share of the processes lands in a slower mode.
Noise two_modes(double apart, double share = 0.25) {
  return [apart, share](std::mt19937_64& engine) {
    return (std::uniform_real_distribution<double>(0, 1)(engine) < share ? apart : 0) +
           std::normal_distribution<double>(0, 0.1 * apart)(engine);
  };
}

// `processes` processes with `rounds` rounds each, paired by a drift that both variants share.
Effect simulate(std::mt19937_64& engine, std::size_t processes, double truth, const Noise& of_reference,
                const Noise& of_variant) {
  std::normal_distribution<double> round(0, kRoundSpread), drift(0, 0.1);
  Rounds reference, variant;
  for (std::size_t process = 0; process < processes; ++process) {
    const double a = truth + of_reference(engine), b = of_variant(engine);
    for (std::size_t i = 0; i < kRounds; ++i) {
      const double shared = drift(engine);
      reference.ns.push_back(1e6 * std::exp(shared + a + round(engine)));
      variant.ns.push_back(1e6 * std::exp(shared + b + round(engine)));
    }
    reference.process_rounds.push_back(kRounds);
    variant.process_rounds.push_back(kRounds);
  }
  return paired_effect(reference, variant);
}

int trials(int wanted) {
  return kSanitized ? wanted / 20 : wanted;
}

// The share of 95 % intervals that hold `truth`.
double coverage(std::size_t processes, const Noise& of_reference, const Noise& of_variant,
                double truth = 0.05, double shift = 0) {
  std::mt19937_64 engine(processes);
  const int count = trials(20'000);
  int covered = 0;
  for (int i = 0; i < count; ++i) {
    const Effect effect = simulate(engine, processes, truth, of_reference, of_variant);
    covered += effect.ci.low <= truth + shift && truth + shift <= effect.ci.high;
  }
  return covered / static_cast<double>(count);
}

// What few trials may be off by.
double slack() {
  return kSanitized ? 0.02 : 0;
}

TEST(Coverage, OfNormalNoiseIsWhatItSays) {
  for (const std::size_t processes : {5, 10, 20})
    for (const double spread : {0.002, 0.02}) {
      const double share = coverage(processes, normal(spread), normal(spread));
      EXPECT_GE(share, 0.94 - slack()) << processes << " " << spread;
      EXPECT_LE(share, 0.96 + slack()) << processes << " " << spread;
    }
}

TEST(Coverage, OfSkewedAndTwoModeNoiseThatBothVariantsShareIsNearlySo) {
  for (const std::size_t processes : {5, 10, 20})
    for (const Noise& noise : {skewed(0.02), two_modes(0.03)}) {
      const double share = coverage(processes, noise, noise);
      EXPECT_GE(share, 0.93 - slack()) << processes;
      EXPECT_LE(share, 0.99) << processes << ": so wide that it says little";
    }
}

// Noise of one variant alone is part of what it costs, so the truth is moved by its mean. With few processes
// the slow mode is often not drawn at all, and the interval cannot know of it.
TEST(Coverage, OfNoiseThatOneVariantHasIsLower) {
  struct Reported {
    const char* name;
    Noise noise;
    double mean, least;
  };
  const Reported all[] = {{"skewed", skewed(0.02), 0.02, 0.85},
                          {"two_modes", two_modes(0.03), 0.0075, 0.85},
                          {"rare_mode", two_modes(0.2, 0.1), 0.02, 0.5}};
  for (const auto& [name, noise, mean, least] : all)
    for (const std::size_t processes : {5, 10, 20}) {
      const double share = coverage(processes, normal(0.002), noise, 0.05, -mean);
      RecordProperty(std::string(name) + std::to_string(processes), std::to_string(share));
      std::printf("coverage, %s noise in one variant, %zu processes: %.3f\n", name, processes, share);
      EXPECT_GE(share, least) << name << processes;
      EXPECT_LE(share, 0.96 + slack()) << name << processes;
    }
}

TEST(Coverage, WouldShowAnIntervalThatIsTooNarrow) {
  // With the quantile of the normal distribution in the place of Student's: 88 % at 5 processes.
  std::mt19937_64 engine(1);
  const int count = trials(20'000);
  int covered = 0;
  for (int i = 0; i < count; ++i) {
    const Effect effect = simulate(engine, 5, 0.05, normal(0.02), normal(0.02));
    covered += std::abs(effect.mean.value - 0.05) <= 1.959964 * effect.mean.error;
  }
  const double share = covered / static_cast<double>(count);
  EXPECT_LT(share, 0.90);
  EXPECT_GT(share, 0.84);
}

// Shares of verdicts on a true effect `truth`, each by itself.
struct Shares {
  double faster = 0, slower = 0, equivalent = 0;
};
Shares shares(std::size_t processes, double truth, const Noise& noise) {
  std::mt19937_64 engine(11 + processes);
  const int count = trials(20'000);
  Shares found;
  for (int i = 0; i < count; ++i) {
    const Verdict verdict = verdict_of(simulate(engine, processes, truth, noise, noise), 0.01);
    found.faster += verdict == Verdict::faster;
    found.slower += verdict == Verdict::slower;
    found.equivalent += verdict == Verdict::equivalent;
  }
  return {found.faster / count, found.slower / count, found.equivalent / count};
}

TEST(Verdicts, AmongEqualsAreFalseInAtMostOnePerCent) {
  for (const std::size_t processes : {5, 10})
    for (const Noise& noise : {normal(0.002), normal(0.005), normal(0.01), skewed(0.01), two_modes(0.02)}) {
      const Shares found = shares(processes, 0, noise);
      EXPECT_LE(found.faster + found.slower, 0.01 + slack()) << processes;
    }
}

TEST(Verdicts, OfRealEffectsAreFound) {
  EXPECT_GE(shares(5, std::log(1.05), normal(0.005)).faster, 0.95 - slack());
  EXPECT_GE(shares(5, -std::log(1.05), normal(0.005)).slower, 0.95 - slack());
  EXPECT_GE(shares(5, 0, normal(0.002)).equivalent, 0.45 - slack());
  EXPECT_GE(shares(10, 0, normal(0.002)).equivalent, 0.93 - slack());
}

TEST(Verdicts, AtTheMarginAreFalseAsOftenAsTheLevelAllows) {
  const Shares found = shares(5, std::log(1.01), normal(0.01));
  EXPECT_NEAR(found.faster, kFalseVerdicts, 0.004 + slack());
  EXPECT_LE(found.equivalent, 0.055 + slack()) << "two one-sided tests at 5 %";
}

TEST(Verdicts, OfAFamilyHoldAnyFalseOneInAtMostTheLevel) {
  std::mt19937_64 engine(3);
  const int count = trials(4'000);
  const std::size_t size = 20;
  const std::vector<double> margins(size, 0.01);
  int family_wrong = 0, alone_wrong = 0;
  for (int i = 0; i < count; ++i) {
    std::vector<Effect> family;
    for (std::size_t k = 0; k < size; ++k) {
      family.push_back(simulate(engine, 5, std::log(1.01), normal(0.01), normal(0.01)));
    }
    bool any = false, any_alone = false;
    for (const Verdict verdict : verdicts_of(family, margins)) any |= verdict == Verdict::faster;
    for (const Effect& one : family) any_alone |= verdict_of(one, 0.01) == Verdict::faster;
    family_wrong += any;
    alone_wrong += any_alone;
  }
  EXPECT_LE(family_wrong, (0.032 + slack()) * count);
  EXPECT_GE(family_wrong, (0.015 - slack()) * count);
  EXPECT_GE(alone_wrong, 0.3 * count) << "the test sees it if nothing is adjusted";
}

}  // namespace
}  // namespace hilbench
