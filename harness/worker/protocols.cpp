// The ends of a chain, timed as scripts do.
#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>

#include "harness/worker/phases.hpp"
#include "reports/records/stats.hpp"

namespace hilbench {
namespace {

// The mean of executions back to back.
double executions_ns(Device& device, PreparedVariant& prepared, std::int64_t executions) {
  if (!prepared.traits().run_timed)
    return device.time_ns([&] { prepared.run(); }, Clock::ordinary, executions);
  const std::vector<double> each = prepared.traits().run_timed(executions);
  return std::accumulate(each.begin(), each.end(), 0.0) / static_cast<double>(each.size());
}

// The start of the chain, then its end.
using Ends = std::array<const VerifiedVariant*, 2>;

class ProtocolTrials {
 public:
  ProtocolTrials(const TaskContext& run, const Ends& ends) : run_(run), ends_(ends) {}

  // The time of each end.
  std::array<double, 2> trial(const Protocol& protocol) {
    std::array<std::size_t, 2> sequence = {0, 1};
    if (protocol.end == EndTurn::first) std::swap(sequence[0], sequence[1]);
    std::array<double, 2> ns = {};
    if (protocol.end != EndTurn::interleaved) {
      for (const std::size_t end : sequence) {
        make_ready(end, protocol.cache);
        ns[end] = timed_ns(end, protocol.runs);
      }
      return ns;
    }
    for (const std::size_t end : sequence) make_ready(end, protocol.cache);
    for (std::int64_t i = 0; i < protocol.runs; ++i)
      for (const std::size_t end : sequence) ns[end] += timed_ns(end, 1) / static_cast<double>(protocol.runs);
    return ns;
  }

  double spent_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }

  // What a trial takes if executions take what they took.
  double expected_s(const Protocol& protocol, const std::array<double, 2>& execution_ns) const {
    const std::int64_t executions = protocol.runs + (protocol.cache == CacheState::warm ? 1 : 0);
    return static_cast<double>(executions) * (execution_ns[0] + execution_ns[1]) * 1e-9;
  }

 private:
  PreparedVariant& prepared(std::size_t end) const { return *ends_[end]->prepared; }

  void make_ready(std::size_t end, CacheState cache) {
    if (cache == CacheState::cold) return run_.bench.device->evict_caches();
    timed_ns(end, 1);
  }

  double timed_ns(std::size_t end, std::int64_t executions) {
    run_.tell({.phase = Phase::time, .variant_id = ends_[end]->record.variant_id, .spent_s = spent_s()});
    return executions_ns(*run_.bench.device, prepared(end), executions);
  }

  const TaskContext& run_;
  Ends ends_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

const VerifiedVariant* variant_of(const std::vector<VerifiedVariant>& variants, const std::string& id) {
  const auto found = std::ranges::find_if(
      variants, [&](const VerifiedVariant& variant) { return variant.record.variant_id == id; });
  return found == variants.end() ? nullptr : &*found;
}

}  // namespace

EndTimes time_protocols(const TaskContext& run, const std::vector<VerifiedVariant>& variants,
                        const std::vector<TimedSamples>& samples) {
  const ComparisonTask& task = run.task;
  const std::vector<Protocol>& protocols = task.measure.protocols;
  if (protocols.empty() || !task.reference) return {};
  const Ends ends = {variant_of(variants, task.records[*task.reference].variant_id),
                     variant_of(variants, task.chain_end)};
  if (ends[0] == nullptr || ends[1] == nullptr) return {};
  std::array<double, 2> execution_ns = {};
  for (std::size_t i = 0; i < ends.size(); ++i)
    execution_ns[i] = median(samples[static_cast<std::size_t>(ends[i] - variants.data())].ns);
  EndTimes times;
  for (const Protocol& protocol : protocols) {
    times.start.push_back({.protocol = protocol, .trials_ns = {}, .process_trials = {0}});
    times.end.push_back(times.start.back());
  }
  const std::int64_t fewest = std::ranges::min(protocols, {}, &Protocol::runs).runs;
  ProtocolTrials trials(run, ends);
  for (std::int64_t trial = 0; trial < kProtocolTrials; ++trial)
    for (std::size_t i = 0; i < protocols.size(); ++i) {
      const bool due = trial == 0 && protocols[i].runs == fewest;
      const double end_s = trials.spent_s() + trials.expected_s(protocols[i], execution_ns);
      if (!due && end_s > task.measure.budget_s) continue;
      const std::array<double, 2> ns = trials.trial(protocols[i]);
      for (std::size_t end = 0; end < ns.size(); ++end) {
        ProtocolTimes& into = (end == 0 ? times.start : times.end)[i];
        into.trials_ns.push_back(ns[end]);
        ++into.process_trials.front();
      }
    }
  return times;
}

}  // namespace hilbench
