// Times the variants of a comparison in interleaved, paired rounds of balanced order.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/device/device.hpp"
#include "harness/measure/prepared_variant.hpp"
#include "harness/measure/turns.hpp"
#include "harness/sweep/settings.hpp"

namespace hilbench {

// Rounds that a process times even if its budget is spent, unless rounds bend.
std::int64_t fewest_rounds(const Measure& measure);

// Trials of each protocol of a chain in a process, if the budget lasts.
inline constexpr std::int64_t kProtocolTrials = 5;

// Called before every timed run with the variant, the round and the seconds spent on timing so far.
using TimingProgress = std::function<void(const std::string& id, std::int64_t round, double spent_s)>;

// What happens around samples besides timing. `v` numbers the variants.
class RoundsWatch {
 public:
  virtual ~RoundsWatch() = default;
  virtual void before_sample(std::size_t /*v*/) {}
  virtual void after_sample(std::size_t /*v*/) {}
  // A poisoned round is one more round between others, or after the last, that a variant cannot tell from
  // them: what stands in its output before must be replaced. Its times are kept apart.
  virtual bool poisoned_round_follows(std::int64_t /*round*/) { return false; }
  virtual void begin_poisoned_round() {}
  virtual void poison(std::size_t /*v*/) {}
  virtual void take(std::size_t /*v*/) {}       // its output
  virtual void take_last(std::size_t /*v*/) {}  // that of the round after the last, of programs first
};

struct TimedSamples {
  std::vector<double> ns;           // per execution, one for each round
  std::vector<double> poisoned_ns;  // the same of poisoned rounds
  // Of a variant that times itself, the first execution of each sample, whether it is part of it or not.
  std::vector<double> first_ns, poisoned_first_ns;
  std::string timer;             // Device::name_of() the clock that was used
  std::optional<Energy> energy;  // if Measure::steady: of each sample, without its median
};

// Returns the samples of each variant; every variant takes part in every round. Each (variant, round) is one
// Google Benchmark run with manual time: the device's clock around PreparedVariant::run(), or the clock of a
// variant that times itself.
// Not timed are the warm-up and, with a warm cache, one execution before a short sample. With a cold cache,
// the caches are evicted before every execution.
// Each round has a sequence of its own; measure.seed decides which. Executions under 25 us are timed in
// batches: one pair of clock readings around many.
// min_rounds come first. How much their ratios against `reference` (without one: their times) scatter decides
// once how many rounds there are in all, so that a 95 % interval within this process has the relative
// half-width `measure.interval`. The ratios themselves play no part, so stopping does not bias them (Stein
// 1945). It ends before if the budget is spent, but runs at least 6 rounds, because a 95 % interval of a
// median needs them, unless min_rounds is smaller. With `measure.rounds_bend` the budget holds instead: no
// round begins that would end after it if it took as long as the longest so far, except the first. Variants
// without output (`peak`) are not waited for. With `measure.steady` a sample is one window of steady_s or
// more: executions back to back, one pair of readings of the ordinary clock around all of them, and one of
// the energy counters. A short trial before it says how many executions that takes. At least 3 rounds are
// run, whatever the budget. The warm-up of all variants is one turn, and each round is one, with the poisoned
// round that follows it. After the last round comes a poisoned one in which programs take their turns first.
// Without `watch` there are no poisoned rounds.
std::vector<TimedSamples> time_variants(Device& device, const std::vector<VerifiedVariant>& variants,
                                        std::optional<std::size_t> reference, const Measure& measure,
                                        const TimingProgress& progress, const Turn& turn = {},
                                        RoundsWatch* watch = nullptr);

}  // namespace hilbench
