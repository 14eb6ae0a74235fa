// Timing: the variants of a comparison in interleaved, paired rounds of balanced order.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/device/device.hpp"
#include "harness/sweep/settings.hpp"

namespace hilbench {

struct TimedVariant {
  std::string id;
  std::function<void()> run;  // one execution, complete when it returns
  bool paired = true;         // false: its interval does not hold up the stop (`peak`)
  // Durations of so many executions in nanoseconds, by a clock of the variant's own (an external baseline);
  // empty: the device's clock around `run`.
  std::function<std::vector<double>(std::int64_t)> run_timed = nullptr;
};

struct TimingRules {
  CacheState cache = CacheState::warm;
  double interval = 0.02;
  double budget_s = 30;
  std::int64_t min_rounds = 10;
  std::uint64_t seed = 1;
};

// Told before every timed run: the variant, the round, and the seconds of timing spent so far.
using TimingProgress = std::function<void(const std::string& id, std::int64_t round, double spent_s)>;

struct TimedSamples {
  std::vector<double> ns;  // per execution, one a round
  std::string timer;       // Device::name_of the clock used
};

// Samples of each variant; every variant has every round. Warm-up and, with a
// warm cache, one untimed execution before a short sample stand outside the timed region; with a cold cache
// every execution is preceded by an eviction. Each (variant, round) is one Google Benchmark run with manual
// time. Stops when every paired ratio against `reference` (without one: every median) has an interval of
// relative half-width `interval` and min_rounds are done, or when the budget is spent; but not before 6
// rounds, the fewest from which a 95 % interval of a median can be told, unless min_rounds is smaller still.
std::vector<TimedSamples> time_variants(Device& device, const std::vector<TimedVariant>& variants,
                                        std::optional<std::size_t> reference, const TimingRules& rules,
                                        const TimingProgress& progress);

}  // namespace hilbench
