#include "harness/worker/worker.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "baselines/peak/peak.hpp"
#include "harness/counters/counters.hpp"
#include "harness/external/program.hpp"
#include "harness/launched/processes.hpp"
#include "harness/measure/bench.hpp"
#include "harness/measure/dump.hpp"
#include "harness/measure/timing.hpp"
#include "harness/process/pipe.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/nvtx.hpp"
#include "kernels/orders/locality.hpp"
#include "kernels/orders/order.hpp"
#include "kernels/ring/shard_keys.hpp"
#include "reports/records/stats.hpp"

namespace hilbench {
namespace {

constexpr std::byte kPoison{0xff};  // a value made of it is NaN, in each dtype
constexpr double kPeakMargin = 1.05;
// Rows read by the first tiles of a head: enough for the locality counts, at a few milliseconds.
constexpr std::int64_t kLocalityVisits = 1 << 16;

std::string fault_of_order(const OrderRequest& request) {
  return order_fault(request, check_order(request, order_slots(request)));
}

// Of the order in which the record's variant stores its inputs: on a ring, in each shard. Empty: none.
std::string order_fault_of(const Record& record) {
  if (record.work.ring_size == 1) return fault_of_order(order_request(record.work, record.variant));
  const Ring ring(record.work, record.variant);
  std::set<std::int64_t> lengths;
  for (std::int64_t rank = 0; rank < ring.ranks(); ++rank) {
    const OrderRequest request = shard_order(ring, rank);
    if (request.length == 0 || !lengths.insert(request.length).second) continue;
    if (std::string fault = fault_of_order(request); !fault.empty()) return fault;
  }
  return "";
}

class TaskRun {
 public:
  TaskRun(const ComparisonTask& task, const std::function<void(const TaskEvent&)>& tell,
          LaunchedProcesses* processes)
      : task_(task), tell_(tell), processes_(processes) {}

  void run() {
    const NvtxRange in_case(task_.records.front().case_id);
    tell_({.phase = Phase::prepare});
    bench_ = std::make_unique<Bench>(task_, processes_);
    for (const Record& planned : task_.records) admit(planned);
    if (entrants_.empty()) return;
    time();
    for (Entrant& entrant : entrants_) measure_itself(entrant);  // before counting slows what it tells of
    // One set for all variants before the next: a GPU's profiler starts anew with every change of set.
    for (const std::string& name : task_.counters)
      for (Entrant& entrant : entrants_) count(entrant, name);
    for (Entrant& entrant : entrants_) {
      describe(entrant);
      entrant.candidate.reset();  // memory that a variant damaged shows here, while it is the one in flight
      tell_({.phase = Phase::count, .variant_id = entrant.record.variant_id, .record = entrant.record});
    }
  }

  bool lost() const { return bench_ != nullptr && bench_->lost(); }

 private:
  struct Entrant {
    Record record;
    std::unique_ptr<PreparedVariant> candidate;
  };

  void settle(Record record, Status status, std::string reason) {
    record.status = status;
    record.reason = std::move(reason);
    tell_({.phase = Phase::verify, .variant_id = record.variant_id, .record = std::move(record)});
  }

  void admit(const Record& planned) {
    tell_({.phase = Phase::verify, .variant_id = planned.variant_id});
    try {
      verify(planned);
    } catch (const Unsupported& reason) {
      settle(planned, Status::skipped, reason.what());
    } catch (const std::exception& error) {
      settle(planned, Status::failed, error.what());
      if (bench_->lost())
        throw EnvironmentError({.what = "the device is lost to this process", .why = error.what()});
    }
  }

  void verify(Record record) {
    const NvtxRange in_variant(record.variant_id), in_phase("verify");
    if (!record.variant.baseline) {
      const std::string fault = order_fault_of(record);
      if (!fault.empty()) return settle(std::move(record), Status::invalid, fault);
    }
    auto candidate = make_variant(*bench_, record);
    record.permute_ns = candidate->permute_ns();
    record.environment["library"] = candidate->library();
    if (record.work.ring_size > 1) record.environment["transport"] = candidate->transport();
    if (candidate->implementation().has_output) {
      const VerifyResult result = check_output(*candidate, record);
      record.verify = result.verification;
      if (result.fault) return settle(std::move(record), Status::failed, *result.fault);
    }
    entrants_.push_back({std::move(record), std::move(candidate)});
  }

  VerifyResult check_output(PreparedVariant& candidate, const Record& record) {
    candidate.fill_output(kPoison);
    candidate.run();
    bench_->device->synchronize();
    if (!task_.dump.empty()) dump_tensors(task_.dump, record, bench_->inputs, candidate.output());
    return candidate.verify();
  }

  std::optional<std::size_t> reference() const {
    if (!task_.reference) return std::nullopt;
    for (std::size_t i = 0; i < entrants_.size(); ++i)
      if (entrants_[i].record.variant_id == task_.records[*task_.reference].variant_id) return i;
    return std::nullopt;
  }

  void time() {
    std::vector<TimedVariant> variants;
    for (Entrant& entrant : entrants_) {
      PreparedVariant* candidate = entrant.candidate.get();
      variants.push_back({.id = entrant.record.variant_id,
                          .run = [candidate] { candidate->run(); },
                          .paired = candidate->implementation().has_output});
      if (candidate->times_itself())
        variants.back().run_timed = [candidate](std::int64_t n) { return candidate->run_timed(n); };
    }
    const Measure& measure = task_.measure;
    const TimingRules rules{measure.cache, measure.interval, measure.budget_s, measure.min_rounds,
                            measure.seed};
    const auto progress = [this](const std::string& id, std::int64_t round, double spent_s) {
      bench_->observe();
      tell_({.phase = Phase::time, .variant_id = id, .round = round, .spent_s = spent_s});
    };
    const auto samples = time_variants(*bench_->device, variants, reference(), rules, progress);
    for (std::size_t i = 0; i < entrants_.size(); ++i) {
      Timing timing;
      timing.samples_ns = samples[i].ns;
      timing.process_rounds = {static_cast<std::int64_t>(samples[i].ns.size())};
      const PreparedVariant& candidate = *entrants_[i].candidate;
      timing.timer = candidate.times_itself() ? candidate.timer() : samples[i].timer;
      entrants_[i].record.time = timing;
      entrants_[i].record.environment["device_state"] = bench_->device_state();
    }
    guard_peak();
  }

  // FLOP/s of a record at its median, of each device that it ran on; 0 where it has none to speak of.
  static double rate_of(const Entrant& entrant) {
    const Implementation& implementation = entrant.candidate->implementation();
    if (!entrant.record.flops || !implementation.has_output ||
        implementation.peak_unit(entrant.record.work).empty())
      return 0;
    return *entrant.record.flops / entrant.candidate->devices() /
           (median(entrant.record.time->samples_ns) * 1e-9);
  }

  // A figure above what the unit can do means that work was skipped or the clock is wrong.
  void guard_peak() {
    std::map<std::string_view, double> fastest;  // of each unit
    for (const Entrant& entrant : entrants_)
      if (const double rate = rate_of(entrant); rate > 0) {
        double& most = fastest[entrant.candidate->implementation().peak_unit(bench_->work)];
        most = std::max(most, rate);
      }
    for (const auto& [unit, rate] : fastest) {
      const std::optional<double> peak = bench_->device->peak_flops(unit, rate / kPeakMargin);
      if (peak) hold_against(unit, *peak);
    }
  }

  void hold_against(std::string_view unit, double peak) {
    for (Entrant& entrant : entrants_) {
      const Implementation& implementation = entrant.candidate->implementation();
      if (implementation.peak_unit(bench_->work) != unit) continue;
      if (rate_of(entrant) <= kPeakMargin * peak) continue;
      entrant.record.status = Status::invalid;
      entrant.record.reason =
          fmt::format("{:.1f} GFLOP/s is above the measured {} peak of {:.1f}: some work did not run",
                      rate_of(entrant) * 1e-9, unit, peak * 1e-9);
    }
  }

  void count(Entrant& entrant, const std::string& name) {
    Record& record = entrant.record;
    PreparedVariant& candidate = *entrant.candidate;
    const NvtxRange in_variant(record.variant_id), in_phase("count");
    tell_({.phase = Phase::count, .variant_id = record.variant_id});
    const CounterSet set = counter_set(name, counter_target(record.work.device));
    if (const std::string why = candidate.why_not_counted(); !why.empty())
      return mark_uncounted(record, set, why);
    if (auto counters = candidate.count(set)) return record.counters.merge(*counters);
    // Each execution leaves the caches warm for the next.
    bool warm = false;
    const auto restore = [&] {
      if (task_.measure.cache == CacheState::cold) return bench_->device->evict_caches();
      if (!std::exchange(warm, true)) candidate.run();
    };
    record.counters.merge(hilbench::count(set, bench_->threads, restore, [&] { candidate.run(); }));
    bench_->device->synchronize();  // counters only fail where the work fails: here it shows whose it was
  }

  static void mark_uncounted(Record& record, const CounterSet& set, const std::string& why) {
    const Counter unread{.reason = why};
    for (const CounterEvent& event : set.events) record.counters.emplace(event.name, unread);
    for (const DerivedCounter& derived : set.derived) record.counters.emplace(derived.name, unread);
  }

  void measure_itself(Entrant& entrant) {
    tell_({.phase = Phase::count, .variant_id = entrant.record.variant_id});
    entrant.record.counters.merge(entrant.candidate->measured());
  }

  // The locality of the variant's index.
  void describe(Entrant& entrant) {
    Record& record = entrant.record;
    const PreparedVariant& candidate = *entrant.candidate;
    tell_({.phase = Phase::count, .variant_id = record.variant_id});
    if (record.variant.baseline || candidate.index() == nullptr) return;
    const TileReads reads = tile_reads(record.work, *candidate.index(), kLocalityVisits);
    const std::int64_t head_bytes = row_bytes(record.work, 1);
    record.counters.merge(locality_counters(measure_locality(reads.visits, reads.tile_begin, head_bytes,
                                                             row_bytes(record.work, record.work.kv_heads))));
  }

  const ComparisonTask& task_;
  const std::function<void(const TaskEvent&)>& tell_;
  LaunchedProcesses* const processes_;
  std::unique_ptr<Bench> bench_;
  std::vector<Entrant> entrants_;
};

}  // namespace

void run_task(const ComparisonTask& task, const std::function<void(const TaskEvent&)>& tell,
              LaunchedProcesses* processes) {
  TaskRun run(task, tell, processes);
  try {
    run.run();
  } catch (...) {
    if (processes != nullptr && run.lost()) processes->set_broken("the device is lost to rank 0");
    throw;
  }
}

int worker_main(int task_fd, int event_fd) {
  const auto write_json = [event_fd](const nlohmann::json& json) {
    write_all(event_fd, json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  };
  // Programs that this process starts must not hold its pipes open, nor write to them.
  if (::fcntl(task_fd, F_SETFD, FD_CLOEXEC) != 0 || ::fcntl(event_fd, F_SETFD, FD_CLOEXEC) != 0) return 126;
  try {
    const ComparisonTask task = task_from_json(nlohmann::json::parse(read_all(task_fd)));
    run_task(task, [&](const TaskEvent& event) { write_json(to_json(event)); });
    return 0;
  } catch (const std::exception& error) {
    write_json({{"error", error.what()}});
    return 1;
  }
}

}  // namespace hilbench
