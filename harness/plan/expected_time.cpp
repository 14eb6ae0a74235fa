#include "harness/plan/expected_time.hpp"

#include <algorithm>
#include <limits>

#include "harness/measure/timing.hpp"
#include "reports/records/counts.hpp"

namespace hilbench {
namespace {

// Rough, and corrected by what the first comparisons take (harness/run/pace.hpp).
constexpr double kProcess_s = 0.3;       // start and end of a worker
constexpr double kElement_s = 2e-8;      // to make an element of Q, K or V, for two sets of inputs
constexpr double kSlot_s = 2e-8;         // to place a position in an index
constexpr double kCheckedRuns = 2;       // of each variant: verified, and probed
constexpr double kRunsPerCount = 2;      // with the one that fills the caches
constexpr double kRewarmBelow_s = 0.05;  // a shorter execution follows one that is not timed (timing.cpp)
constexpr double kFractionOfPeak = 0.8;  // that kernels reach
// Of a separate program or library: its start, what it imports, its second inputs and its clock.
constexpr double kProgram_s = 0.4, kProgramOnGpu_s = 1.5;

double sample_s(const Measure& measure, double run_s) {
  if (measure.steady) return measure.steady_s;
  return std::max(run_s, measure.shortest_sample_ns * 1e-9) + (run_s < kRewarmBelow_s ? run_s : 0);
}

// Of the ends of a chain, whose executions take `run_s`.
double protocols_s(const Measure& measure, double run_s) {
  if (measure.protocols.empty()) return 0;
  const std::int64_t fewest = std::ranges::min(measure.protocols, {}, &Protocol::runs).runs;
  double due = 0, all = 0;
  for (const Protocol& protocol : measure.protocols) {
    const bool warm = protocol.cache == CacheState::warm;
    const double trial_s = 2 * static_cast<double>(protocol.runs + (warm ? 1 : 0)) * run_s;
    all += static_cast<double>(kProtocolTrials) * trial_s;
    if (protocol.runs == fewest) due += trial_s;
  }
  return std::max(due, std::min(all, measure.budget_s / static_cast<double>(measure.processes)));
}

}  // namespace

double ExpectedTime::timing_s(double rounds) const {
  return std::max(fewest_rounds_s, std::min(budget_s, rounds * round_s));
}

double ExpectedTime::total_s() const {
  return before_s + timing_s(std::numeric_limits<double>::max()) + after_s;
}

ExpectedTime expected_time(const Measure& measure, std::size_t counter_sets, const Comparison& comparison) {
  if (!comparison.runnable()) return {};
  const Case& work = comparison.work;
  const double rows = static_cast<double>(work.batch) * static_cast<double>(work.sequence_length);
  const double elements =
      rows * static_cast<double>(work.heads + 2 * work.kv_heads) * static_cast<double>(work.head_dim);
  ExpectedTime time{.before_s = kProcess_s + elements * kElement_s,
                    .budget_s = timing_s(measure, comparison)};
  const double counts =
      static_cast<double>(counter_sets) *
      std::max(1.0, static_cast<double>(kFewestCounts) / static_cast<double>(measure.processes));
  for (const PlannedVariant& planned : comparison.variants) {
    if (planned.skip) continue;
    const double run_s = planned.seconds.value_or(0) / kFractionOfPeak;
    time.before_s += kCheckedRuns * run_s + rows * kSlot_s;
    if (planned.implementation != nullptr && planned.implementation->external)
      time.before_s += work.device == DeviceKind::cuda ? kProgramOnGpu_s : kProgram_s;
    time.round_s += sample_s(measure, run_s);
    time.after_s += counts * kRunsPerCount * run_s;
    if (&planned == &comparison.variants[comparison.reference.value_or(0)])
      time.after_s += protocols_s(measure, run_s);
  }
  const double fewest =
      measure.rounds_bend && !measure.steady ? 1 : static_cast<double>(fewest_rounds(measure));
  time.fewest_rounds_s = fewest * time.round_s;
  return time;
}

}  // namespace hilbench
