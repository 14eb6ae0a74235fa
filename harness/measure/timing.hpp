// Timing: the variants of a comparison in interleaved, paired rounds of balanced order.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/device/device.hpp"
#include "harness/measure/prepared_variant.hpp"
#include "harness/sweep/sweep.hpp"

namespace hilbench {

// Told before every timed run: the variant, the round, and the seconds of timing spent so far.
using TimingProgress = std::function<void(const std::string& id, std::int64_t round, double spent_s)>;

struct TimedSamples {
  std::vector<double> ns;  // per execution, one a round
  std::string timer;       // Device::name_of the clock used
};

// Samples of each variant; every variant has every round. Warm-up and, with a
// warm cache, one untimed execution before a short sample stand outside the timed region; with a cold cache
// every execution is preceded by an eviction. Each (variant, round) is one Google Benchmark run with manual
// time, by the device's clock around PreparedVariant::run or, of a variant that times itself, by its own.
// Stops when every paired ratio against `reference` (without one: every median) has an interval of
// relative half-width `interval` and min_rounds are done, or when the budget is spent; but not before 6
// rounds, the fewest from which a 95 % interval of a median can be told, unless min_rounds is smaller still.
// Intervals of variants without output (`peak`) do not hold up the stop.
std::vector<TimedSamples> time_variants(Device& device, const std::vector<VerifiedVariant>& variants,
                                        std::optional<std::size_t> reference, const Measure& measure,
                                        const TimingProgress& progress);

}  // namespace hilbench
