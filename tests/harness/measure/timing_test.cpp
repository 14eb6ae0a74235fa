#include "harness/measure/timing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <thread>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

// A device whose clock the test sets: an execution takes as long as its body says.
class ScriptedDevice final : public Device {
 public:
  Moves moves() const override { return {}; }
  Buffer allocate_aligned(std::size_t) override { return {}; }
  void upload(const void*, std::size_t, Buffer&, std::size_t) override {}
  void download(const Buffer&, std::size_t, std::size_t, void*) override {}
  void fill(Buffer&, std::byte) override {}
  std::int64_t count_bad(const Buffer&, Dtype, NegativeInfinity) override { return 0; }
  void negate(Buffer&, Dtype) override {}
  void permute(const Buffer&, Buffer&, std::int64_t, std::span<const std::int32_t>, std::int64_t,
               Direction) override {}
  double time_ns(const std::function<void()>& body, Clock, std::int64_t executions) override {
    most_executions = std::max(most_executions, executions);
    windows.push_back(executions);
    double sum = 0;
    for (std::int64_t i = 0; i < executions; ++i) {
      body();
      sum += next_ns;
      energy_uj += next_ns * watts * 1e-3;
    }
    return sum / static_cast<double>(executions);
  }
  std::string_view name_of(Clock) const override { return "scripted"; }
  void evict_caches() override { ++evictions; }
  void work(double ns) override { worked_ns += ns; }
  void observe() override { ++observations; }
  EnergyReading energy() override {
    if (!no_energy.empty()) return {.counts = {}, .reason = no_energy};
    return {.counts = {{.microjoules = static_cast<std::uint64_t>(energy_uj)}}, .source = "fake"};
  }

  double warm_up_ns() const override { return warm_up; }

  double next_ns = 0;
  double warm_up = 0;
  std::int64_t most_executions = 0;
  int evictions = 0;
  double worked_ns = 0;
  std::vector<std::int64_t> windows;  // executions between two readings of the clock
  double watts = 400, energy_uj = 0;
  std::string no_energy;
  int observations = 0;
};

struct Script {
  std::string id;
  std::function<void()> body;  // one execution
  std::function<std::vector<double>(std::int64_t)> own_times_ns = nullptr;
};

const Implementation kScripted{.name = "scripted"};

class ScriptedVariant final : public PreparedVariant {
 public:
  explicit ScriptedVariant(Script script) : PreparedVariant(kScripted), script_(std::move(script)) {
    traits_.run_timed = script_.own_times_ns;
  }
  void run() override { script_.body(); }
  void fill_output(std::byte) override {}
  TakenRows take(const DrawnRows&) override { return {}; }
  bool load(InputSet) override { return false; }
  InputSet inputs() const override { return InputSet::second; }
  ProbeErrors probe(std::uint64_t) override { return {}; }
  OutputReader output() override { return {}; }
  std::map<std::string, Counter> measured() override { return {}; }

 private:
  const Script script_;
};

std::vector<VerifiedVariant> scripted(const std::vector<Script>& scripts) {
  std::vector<VerifiedVariant> variants;
  for (const Script& script : scripts) {
    VerifiedVariant& variant = variants.emplace_back();
    variant.record.variant_id = script.id;
    variant.prepared = std::make_unique<ScriptedVariant>(script);
  }
  return variants;
}

// Near, not equal: Google Benchmark adds up seconds.
void expect_all(const std::vector<double>& samples, std::size_t count, double ns) {
  EXPECT_EQ(samples.size(), count);
  for (const double sample : samples) EXPECT_NEAR(sample, ns, 1e-9 * ns);
}

void no_progress(const std::string&, std::int64_t, double) {}

TEST(Timing, GivesEveryVariantEveryRoundAndTakesTheFewestRoundsIfNothingScatters) {
  ScriptedDevice device;
  std::vector<std::string> sequence;
  const auto variants = scripted({{"a",
                                   [&] {
                                     device.next_ns = 60e6;
                                     sequence.push_back("a");
                                   }},
                                  {"b", [&] {
                                     device.next_ns = 90e6;
                                     sequence.push_back("b");
                                   }}});
  const auto samples = time_variants(device, variants, 0, {.min_rounds = 10}, no_progress);
  ASSERT_EQ(samples.size(), 2u);
  expect_all(samples[0].ns, 10, 60e6);
  expect_all(samples[1].ns, 10, 90e6);
  std::map<std::string, int> first_of_round;  // after two warm-up executions of each
  for (std::size_t i = 4; i + 1 < sequence.size(); i += 2) ++first_of_round[sequence[i]];
  EXPECT_EQ(first_of_round["a"], 5) << "a balanced order";
}

TEST(Timing, InjectedWorkIsAShareOfEachTimedExecution) {
  ScriptedDevice device;
  int executions = 0;
  auto variants = scripted({{"a", [&] {
                               device.next_ns = 60e6;
                               ++executions;
                             }}});
  variants[0].record.injected = 0.5;
  time_variants(device, variants, 0, {.min_rounds = 10}, no_progress);
  // Each of the ten samples is one execution; before them the device finds out how fast it works.
  EXPECT_NEAR(device.worked_ns, 10 * 30e6, 1.5);
  EXPECT_GT(executions, 10);
  variants[0].prepared = std::make_unique<ScriptedVariant>(
      Script{"a", [] {},
             [](std::int64_t count) { return std::vector<double>(static_cast<std::size_t>(count), 1e6); }});
  EXPECT_THROW(time_variants(device, variants, 0, {.min_rounds = 10}, no_progress), EnvironmentError);
}

TEST(Timing, WarmsUpTheDeviceWithTheFirstVariantAndKeepsItWarmWithTheOthers) {
  ScriptedDevice device;
  device.warm_up = 200e6;
  std::vector<std::string> sequence;
  const auto run = [&](const char* id) {
    return [&device, &sequence, id] {
      device.next_ns = 10e6;
      sequence.push_back(id);
    };
  };
  const auto variants = scripted({{"a", run("a")}, {"b", run("b")}, {"c", run("c")}});
  time_variants(device, variants, 0, {.min_rounds = 6}, no_progress);
  const auto leading = [&](std::size_t from) {  // executions of one variant in a row
    return std::find_if(sequence.begin() + static_cast<std::ptrdiff_t>(from), sequence.end(),
                        [&](const std::string& id) { return id != sequence[from]; }) -
           sequence.begin() - static_cast<std::ptrdiff_t>(from);
  };
  EXPECT_EQ(leading(0), 1 + 20);
  EXPECT_EQ(leading(21), 1 + 4);
}

TEST(Timing, AVariantThatSaysTooLittleOfItsTimeIsWarmAtLast) {
  ScriptedDevice device;
  device.warm_up = 1e6;
  const auto variants = scripted({{"a", [] {},
                                   [](std::int64_t executions) {
                                     return std::vector<double>(static_cast<std::size_t>(executions), 1e-3);
                                   }}});
  const auto begin = std::chrono::steady_clock::now();
  time_variants(device, variants, 0, {.min_rounds = 3}, no_progress);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(Timing, TakesMoreRoundsIfRatiosScatterAndStopsWithTheBudget) {
  ScriptedDevice device;
  int calls = 0;
  const auto variants = scripted(
      {{"a", [&] { device.next_ns = 60e6; }}, {"b", [&] {
                                                 device.next_ns = ++calls % 2 == 0 ? 60e6 : 120e6;
                                                 std::this_thread::sleep_for(std::chrono::milliseconds(2));
                                               }}});
  const auto samples =
      time_variants(device, variants, 0, {.interval = 0.001, .budget_s = 0.2, .min_rounds = 10}, no_progress);
  EXPECT_GT(samples[0].ns.size(), 10u);
  EXPECT_LT(samples[0].ns.size(), 200u);
}

TEST(Timing, MeasuresSixRoundsEvenWhenTheBudgetIsTooSmall) {
  ScriptedDevice device;
  const auto variants = scripted({{"a", [&] { device.next_ns = 60e6; }}});
  EXPECT_EQ(time_variants(device, variants, {}, {.budget_s = 1e-9}, no_progress)[0].ns.size(), 6u);
}

TEST(Timing, FewerRoundsIfTheyBendToTheBudget) {
  ScriptedDevice device;
  const auto slow = [&] {
    device.next_ns = 60e6;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  const auto rounds = [&](const Measure& measure) {
    return time_variants(device, scripted({{"a", slow}, {"b", slow}}), 0, measure, no_progress)[0].ns.size();
  };
  EXPECT_EQ(rounds({.budget_s = 1e-9, .rounds_bend = true}), 1u) << "without one there is no result";
  const auto start = std::chrono::steady_clock::now();
  const std::size_t bent = rounds({.budget_s = 0.25, .rounds_bend = true});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_GE(bent, 1u);
  EXPECT_LT(bent, 6u) << "a round takes 0.04 s, and the warm-up counts";
  EXPECT_LT(took.count(), 0.5) << "six rounds and the warm-up take 0.32 s or more";
  EXPECT_EQ(rounds({.budget_s = 60, .rounds_bend = true, .min_rounds = 3}), 3u) << "the budget lasts";
  EXPECT_EQ(fewest_rounds({.min_rounds = 10}), 6);
  EXPECT_EQ(fewest_rounds({.min_rounds = 4}), 4);
  EXPECT_EQ(fewest_rounds({.min_rounds = 10, .steady = true}), 3);
}

TEST(Timing, RepeatsShortExecutionsAndGivesTheTimeOfOne) {
  ScriptedDevice device;
  int executions = 0;
  const auto variants = scripted({{"a", [&] {
                                     device.next_ns = 1e5;
                                     ++executions;
                                   }}});
  const auto samples = time_variants(device, variants, {}, {.min_rounds = 6}, no_progress);
  expect_all(samples[0].ns, 6, 1e5);
  EXPECT_EQ(executions, 2 + 6 * (20 + 1)) << "two to warm up; per round 20 timed after an untimed one";
}

// Half-width of the median's interval: 1.96 * 1.2533 * deviation / sqrt(rounds).
TEST(Timing, TheScatterOfTheFirstRoundsAloneDecidesHowManyThereAre) {
  ScriptedDevice device;
  int calls = 0;
  const auto variants = scripted({{"a", [&] { device.next_ns = 60e6; }},
                                  {"b", [&] { device.next_ns = 60e6 * (++calls % 2 == 0 ? 0.99 : 1.01); }}});
  const auto samples =
      time_variants(device, variants, 0, {.interval = 0.005, .budget_s = 60, .min_rounds = 10}, no_progress);
  const double deviation = 1.4826 * 0.01;
  const double rounds = std::pow(1.96 * 1.2533 * deviation / 0.005, 2);
  EXPECT_NEAR(static_cast<double>(samples[0].ns.size()), rounds, 2);
}

TEST(Timing, TheSeedDecidesTheSequenceOfVariants) {
  const auto sequence_of = [](std::uint64_t seed) {
    ScriptedDevice device;
    std::string sequence;
    std::vector<Script> scripts;
    for (const char* id : {"a", "b", "c", "d"})
      scripts.push_back({id, [&device, &sequence, id] {
                           device.next_ns = 60e6;
                           sequence += id;
                         }});
    time_variants(device, scripted(scripts), 0, {.min_rounds = 8, .seed = seed}, no_progress);
    return sequence;
  };
  EXPECT_EQ(sequence_of(1), sequence_of(1));
  EXPECT_NE(sequence_of(1), sequence_of(2));
}

TEST(Timing, ShortExecutionsAreTimedInBatches) {
  ScriptedDevice device;
  const auto variants = scripted({{"a", [&] { device.next_ns = 20e3; }}});
  const auto samples = time_variants(device, variants, {}, {.min_rounds = 6}, no_progress);
  expect_all(samples[0].ns, 6, 20e3);
  EXPECT_EQ(device.most_executions, 100) << "2 ms between two readings of the clock";
  device.most_executions = 0;
  time_variants(device, scripted({{"b", [&] { device.next_ns = 26e3; }}}), {}, {.min_rounds = 6},
                no_progress);
  EXPECT_EQ(device.most_executions, 1);
  time_variants(device, variants, {}, {.min_rounds = 6, .cache = CacheState::cold}, no_progress);
  EXPECT_EQ(device.most_executions, 1) << "a batch would warm the caches";
}

TEST(Timing, EvictsCachesBeforeEveryColdExecution) {
  ScriptedDevice device;
  const auto variants = scripted({{"a", [&] { device.next_ns = 1e5; }}});
  time_variants(device, variants, {}, {.min_rounds = 6, .cache = CacheState::cold}, no_progress);
  EXPECT_EQ(device.evictions, 6);
}

TEST(Timing, TakesTheTimesOfAVariantThatMeasuresItself) {
  ScriptedDevice device;
  device.next_ns = 7;  // must not be used
  std::vector<std::int64_t> asked;
  int untimed = 0;
  const auto run_timed = [&](std::int64_t executions) {
    asked.push_back(executions);
    std::vector<double> times_ns(static_cast<std::size_t>(executions), 1e5);
    times_ns.front() = 9e9;  // to warm up
    times_ns.back() = 3e5;
    return times_ns;
  };
  const auto variants = scripted({{.id = "a", .body = [&] { ++untimed; }, .own_times_ns = run_timed}});
  const auto samples = time_variants(device, variants, {}, {.min_rounds = 6}, no_progress);
  EXPECT_EQ(asked, (std::vector<std::int64_t>{1, 1, 1, 8, 8, 8, 8, 8, 8}))
      << "an estimate of 0.3 ms by three requests; samples of 2 ms after one untimed execution";
  expect_all(samples[0].ns, 6, (6 * 1e5 + 3e5) / 7);
  EXPECT_EQ(untimed, 1) << "to warm up";
}

Measure steady(std::int64_t min_rounds) {
  return {.budget_s = 1e-9, .min_rounds = min_rounds, .steady = true};
}

TEST(SteadyTiming, FillsTwoSecondsWithExecutionsBetweenTwoReadingsOfTheClock) {
  ScriptedDevice device;
  const auto variants = scripted({{"a", [&] { device.next_ns = 1e6; }}});
  const auto samples = time_variants(device, variants, {}, steady(10), no_progress);
  expect_all(samples[0].ns, 3, 1e6);
  EXPECT_EQ(device.windows, (std::vector<std::int64_t>{1, 200, 2100, 200, 2100, 200, 2100}))
      << "to warm up; then a trial and a window of 2.1 s in each round";
  EXPECT_EQ(samples[0].timer, "scripted");
}

TEST(SteadyTiming, TakesTheFewestRoundsThatTheSweepAsksForEvenBeyondTheBudget) {
  ScriptedDevice device;
  const auto variants = scripted({{"a", [&] { device.next_ns = 1e8; }}});
  Measure measure = steady(7);
  EXPECT_EQ(time_variants(device, variants, {}, measure, no_progress)[0].ns.size(), 3u);
  measure.budget_s = 60;
  EXPECT_EQ(time_variants(device, variants, {}, measure, no_progress)[0].ns.size(), 7u);
}

TEST(SteadyTiming, AWindowThatIsTooShortIsFilledAgain) {
  ScriptedDevice device;
  int executions = 0;  // the trial is slower than what follows
  const auto variants = scripted({{"a", [&] { device.next_ns = ++executions <= 22 ? 1e7 : 5e6; }}});
  Measure measure = steady(3);
  measure.steady_s = 2;
  const auto samples = time_variants(device, variants, {}, measure, no_progress);
  EXPECT_EQ(device.windows[1], 20);
  EXPECT_EQ(device.windows[2], 210) << "about a second";
  EXPECT_NEAR(static_cast<double>(device.windows[3]), 630, 1) << "1.5 times as many as 2.1 s take";
  expect_all(samples[0].ns, 3, 5e6);
  ASSERT_TRUE(samples[0].energy);
  for (const double joules : samples[0].energy->samples_j) EXPECT_NEAR(joules, 400 * 5e-3, 1e-6);
}

TEST(SteadyTiming, GivesTheEnergyOfAnExecutionInTheSameWindow) {
  ScriptedDevice device;
  const auto variants =
      scripted({{"a", [&] { device.next_ns = 1e6; }}, {"b", [&] { device.next_ns = 3e6; }}});
  auto samples = time_variants(device, variants, 0, steady(4), no_progress);
  for (const auto& [number, joules] : {std::pair{0, 0.4}, {1, 1.2}}) {
    const std::optional<Energy>& energy = samples[static_cast<std::size_t>(number)].energy;
    ASSERT_TRUE(energy);
    EXPECT_EQ(energy->source, "fake");
    EXPECT_EQ(energy->reason, "");
    ASSERT_EQ(energy->samples_j.size(), 3u);
    for (const double each : energy->samples_j) EXPECT_NEAR(each, joules, 1e-6);
  }
  EXPECT_GE(device.observations, 6) << "under load";
  EXPECT_FALSE(time_variants(device, variants, 0, {.min_rounds = 3}, no_progress)[0].energy);
}

TEST(SteadyTiming, WithoutACounterTheEnergyIsAbsentWithTheReason) {
  ScriptedDevice device;
  int executions = 0;
  const auto variants = scripted({{"a", [&] {
                                     device.next_ns = 1e8;
                                     if (++executions == 60) device.no_energy = "the counter broke";
                                   }}});
  const auto samples = time_variants(device, variants, {}, steady(3), no_progress);
  ASSERT_TRUE(samples[0].energy);
  EXPECT_EQ(samples[0].energy->reason, "the counter broke");
  EXPECT_TRUE(samples[0].energy->samples_j.empty()) << "also those of the rounds before";
  device.no_energy.clear();
  device.watts = 0;
  EXPECT_EQ(time_variants(device, variants, {}, steady(3), no_progress)[0].energy->reason,
            "the energy counter stood still")
      << "never 0 J";
}

TEST(SteadyTiming, AsksAVariantThatMeasuresItselfForOneWindow) {
  ScriptedDevice device;
  std::vector<std::int64_t> asked;
  double each_ns = 1e6;
  const auto run_timed = [&](std::int64_t executions) {
    asked.push_back(executions);
    device.energy_uj += static_cast<double>(executions) * 0.5e6;
    return std::vector<double>(static_cast<std::size_t>(executions), each_ns);
  };
  const auto variants = scripted({{.id = "a", .body = [] {}, .own_times_ns = run_timed}});
  const auto samples = time_variants(device, variants, {}, steady(3), no_progress);
  EXPECT_EQ(asked, (std::vector<std::int64_t>{1, 1, 200, 2100, 200, 2100, 200, 2100}));
  expect_all(samples[0].ns, 3, 1e6);
  EXPECT_NEAR(samples[0].energy->samples_j.at(2), 0.5, 1e-9);
  each_ns = 1e3;
  EXPECT_THROW(time_variants(device, variants, {}, steady(3), no_progress), EnvironmentError)
      << "two million times in one answer";
}

}  // namespace
}  // namespace hilbench
