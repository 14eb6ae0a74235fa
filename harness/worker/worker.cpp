#include "harness/worker/worker.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <utility>

#include "harness/counters/counters.hpp"
#include "harness/device/bound_threads.hpp"
#include "harness/external/program.hpp"
#include "harness/measure/bench.hpp"
#include "harness/measure/disturbance.hpp"
#include "harness/measure/dump.hpp"
#include "harness/measure/random_values.hpp"
#include "harness/measure/timing.hpp"
#include "harness/measure/turns.hpp"
#include "harness/ring/rank.hpp"
#include "harness/worker/make_variant.hpp"
#include "harness/worker/peak_check.hpp"
#include "kernels/base/process/fail_point.hpp"
#include "kernels/base/process/nvtx.hpp"
#include "kernels/base/process/pipe.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/machine/host_memory.hpp"
#include "kernels/orders/locality.hpp"
#include "kernels/orders/order.hpp"
#include "kernels/ring/shard_keys.hpp"
#include "reports/records/counts.hpp"

namespace hilbench {
namespace {

// Passed when the supervisor has been told what begins or has ended.
constexpr std::array kFailPoints = {"worker_prepare", "worker_verify", "worker_time", "worker_count"};
static_assert(kFailPoints.size() == kPhases.size());

constexpr std::byte kPoison{0xff};  // a value made of these bytes is NaN in every dtype
// The locality counts look at this many rows read by the first tiles of a head; it takes a few milliseconds.
constexpr std::int64_t kLocalityVisits = 1 << 16;

std::string fault_of_order(const OrderRequest& request) {
  return order_fault(request, check_order(request, order_slots(request)));
}

// What is wrong with the order in which the variant stores its inputs, in each shard if it is a ring. Empty
// if nothing is.
std::string order_fault_of(const Record& record) {
  if (record.work.ring_size == 1) return fault_of_order(order_request(record.work, record.variant));
  const Ring ring = ring_of(record);
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
          std::unique_ptr<RingHost> rings)
      : task_(task), tell_(tell), rings_(std::move(rings)) {}

  void run() {
    const NvtxRange in_case(task_.records.front().case_id);
    tell_({.phase = Phase::prepare});
    programs_.start_all();
    bench_ = std::make_unique<Bench>(task_, std::move(rings_));
    admit_all();
    if (task_.verify == Verify::yes) probe_all();
    if (verified_.empty()) return;
    time();
    for (VerifiedVariant& variant : verified_)
      measure_itself(variant);  // before counting, which slows executions
    // All variants count one set before the next set, because the profiler of a GPU restarts when the set
    // changes.
    for (const std::string& name : task_.counters) count_all(name);
    for (VerifiedVariant& variant : verified_)
      if (const auto& end = variant.prepared->traits().end) end();
    for (VerifiedVariant& variant : verified_) {
      describe(variant);
      variant.prepared.reset();  // if it damaged memory, this crashes while it is still the variant in flight
      tell_({.phase = Phase::count, .variant_id = variant.record.variant_id, .record = variant.record});
    }
  }

  void note_lost_device() {
    if (bench_ != nullptr && bench_->lost()) bench_->rings->device_lost();
  }

 private:
  void settle(Record record, Status status, std::string reason) {
    record.status = status;
    record.reason = std::move(reason);
    tell_({.phase = Phase::verify, .variant_id = record.variant_id, .record = std::move(record)});
  }

  // Verifies the variants of this process, then the external programs, which start in the meantime. Those are
  // loaded in turn, because a program may tune itself when it is loaded: nothing else may run then. On a
  // processor programs that start would take the cores from what a variant times while it is prepared, so
  // they go first.
  void admit_all() {
    std::vector<const Record*> own, external;
    for (const std::size_t i : shuffled(task_.records.size(), task_.measure.seed))
      (programs_.has(task_.records[i]) ? external : own).push_back(&task_.records[i]);
    const bool share_cores = bench_->work.device == DeviceKind::cpu;
    if (share_cores) greet_all(external);
    for (const Record* record : own) admit(*record);
    if (!share_cores) greet_all(external);
    for (const Record* record : external) admit(*record);
    programs_.release_files();
  }

  // Drops the programs that cannot compute the case.
  void greet_all(std::vector<const Record*>& external) {
    std::erase_if(external,
                  [&](const Record* record) { return !check(*record, [&] { programs_.greet(*record); }); });
  }

  void admit(const Record& planned) {
    check(planned, [&] { verify(planned); });
  }

  // A step of a variant's verification. If it throws, it costs this variant; returns whether it has not.
  template <class Step>
  bool check(const Record& record, const Step& step) {
    tell_({.phase = Phase::verify, .variant_id = record.variant_id});
    try {
      step();
      return true;
    } catch (const Unsupported& reason) {
      settle(record, Status::skipped, reason.what());
    } catch (const std::exception& error) {
      settle(record, Status::failed, error.what());
      if (bench_->lost())
        throw EnvironmentError({.what = "the device is lost to this process", .why = error.what()});
    }
    return false;
  }

  // The key probe of every verified variant, then the ordinary inputs again: each set is made once for all.
  void probe_all() {
    keep_those([this](VerifiedVariant& variant) { return probe(variant); });
    keep_those([this](VerifiedVariant& variant) {
      bench_->hold(InputSet::ordinary);
      variant.prepared->load(InputSet::ordinary);
      return true;
    });
  }

  // Drops the variants whose step throws or returns false; it has settled those.
  template <class Step>
  void keep_those(const Step& step) {
    std::erase_if(verified_, [&](VerifiedVariant& variant) {
      bool keep = false;
      check(variant.record, [&] { keep = step(variant); });
      return !keep;
    });
  }

  bool probe(VerifiedVariant& variant) {
    const NvtxRange in_variant(variant.record.variant_id), in_phase("probe");
    PreparedVariant& prepared = *variant.prepared;
    if (!prepared.implementation().has_output) return true;
    bench_->hold(InputSet::key_probe);
    if (!prepared.load(InputSet::key_probe)) return true;
    prepared.fill_output(kPoison);
    prepared.run();
    bench_->device->synchronize();
    const ProbeErrors errors = prepared.probe();
    variant.record.verify->probed_rows = errors.telling;
    const std::optional<std::string> fault = probe_fault(errors);
    if (fault) settle(variant.record, Status::failed, *fault);
    return !fault;
  }

  void verify(Record record) {
    const NvtxRange in_variant(record.variant_id), in_phase("verify");
    if (!record.variant.baseline) {
      const std::string fault = order_fault_of(record);
      if (!fault.empty()) return settle(std::move(record), Status::invalid, fault);
    }
    auto prepared = make_variant(*bench_, record, programs_);
    record.permute_ns = prepared->traits().permute_ns;
    (*record.environment)["library"] = prepared->traits().library;
    if (record.work.ring_size > 1) (*record.environment)["transport"] = prepared->traits().transport;
    if (prepared->implementation().has_output && task_.verify == Verify::yes) {
      const VerifyResult result = check_output(*prepared, record);
      record.verify = result.verification;
      if (result.fault) return settle(std::move(record), Status::failed, *result.fault);
    }
    expect_pages(*prepared, record.verify ? Touched::yes : Touched::no);
    verified_.push_back({std::move(record), std::move(prepared)});
  }

  enum class Touched { no, yes };

  // Throws Unsupported if the system gave other pages than the case asks for. A run touches what is not
  // touched.
  void expect_pages(PreparedVariant& prepared, Touched touched) {
    if (bench_->work.pages == PageSize::standard) return;
    if (touched == Touched::no) prepared.run();
    if (const std::optional<std::string> fault = pages_fault(bench_->work.pages)) throw Unsupported(*fault);
  }

  VerifyResult check_output(PreparedVariant& prepared, const Record& record) {
    prepared.fill_output(kPoison);
    prepared.run();
    bench_->device->synchronize();
    if (!task_.dump.empty() && !record.twin)
      dump_tensors(task_.dump, record, bench_->inputs, prepared.output());
    return prepared.verify();
  }

  std::optional<std::size_t> reference() const {
    if (!task_.reference) return std::nullopt;
    for (std::size_t i = 0; i < verified_.size(); ++i)
      if (verified_[i].record.variant_id == task_.records[*task_.reference].variant_id) return i;
    return std::nullopt;
  }

  void time() {
    const auto progress = [this](const std::string& id, std::int64_t round, double spent_s) {
      bench_->observe();
      tell_({.phase = Phase::time, .variant_id = id, .round = round, .spent_s = spent_s});
    };
    const auto waiting = [this] { tell_({.phase = Phase::time}); };
    turns_.take(waiting);
    turns_.pass();  // now both processes are prepared
    Disturbance disturbance;
    if (turns_.shared()) disturbance.pause();
    const Turn turn = {.begin =
                           [&] {
                             turns_.take(waiting);
                             disturbance.resume();
                           },
                       .end =
                           [&] {
                             if (turns_.shared()) disturbance.pause();
                             turns_.pass();
                           }};
    const bool one_processor = bench_->work.device == DeviceKind::cpu && bench_->work.ring_size == 1;
    const BoundThreads bound(one_processor ? bench_->threads : 0);  // ranks bind theirs
    const auto samples =
        time_variants(*bench_->device, verified_, reference(), task_.measure, progress, turn);
    turns_.take(waiting);  // the other process has measured its last round
    nlohmann::json process = process_json(disturbance);
    if (one_processor) process["threads_bound"] = bound.bound();
    if (const std::int64_t wanted = fewest_rounds(task_.measure); std::ssize(samples.front().ns) < wanted)
      process["rounds_wanted"] = wanted;
    for (std::size_t i = 0; i < verified_.size(); ++i) {
      Timing timing;
      timing.samples_ns = samples[i].ns;
      timing.process_rounds = {static_cast<std::int64_t>(samples[i].ns.size())};
      const PreparedTraits& traits = verified_[i].prepared->traits();
      timing.timer = traits.run_timed ? traits.timer : samples[i].timer;
      verified_[i].record.time = timing;
      verified_[i].record.energy = samples[i].energy;
      (*verified_[i].record.environment)["device_state"] = bench_->device_state();
      (*verified_[i].record.environment)["processes"] = nlohmann::json::array({process});
    }
    check_against_peak(verified_, bench_->work, *bench_->device);
    check_pages_again();
  }

  // The system may have split huge pages meanwhile, for example because memory became scarce.
  void check_pages_again() {
    const std::optional<std::string> fault = pages_fault(bench_->work.pages);
    if (!fault) return;
    for (VerifiedVariant& variant : verified_) {
      variant.record.status = Status::invalid;
      variant.record.reason = *fault;
    }
  }

  // What one process of a comparison was like.
  nlohmann::json process_json(const Disturbance& disturbance) const {
    nlohmann::json process = disturbance.seen();
    process["seed"] = task_.measure.seed;
    if (bench_->work.device == DeviceKind::cpu) {
      const std::optional<HugeShare> share = huge_share();
      process["huge_pages"] = share ? nlohmann::json(share->mean) : nlohmann::json(nullptr);
    }
    // Programs and ranks outside of this process would count as disturbers.
    if (!task_.externals.empty() || bench_->rings->spans_processes()) process["other_busy_cores"] = nullptr;
    return process;
  }

  // Every variant `counts` times. Each pass over them has a random sequence of its own.
  void count_all(const std::string& name) {
    std::vector<std::map<std::string, Counter>> found(verified_.size());
    for (std::int64_t pass = 0; pass < task_.counts; ++pass)
      for (const std::size_t i :
           shuffled(verified_.size(), task_.measure.seed + static_cast<std::uint64_t>(pass)))
        add_counts(found[i], count(verified_[i], name));
    for (std::size_t i = 0; i < found.size(); ++i) verified_[i].record.counters.merge(found[i]);
  }

  std::map<std::string, Counter> count(VerifiedVariant& variant, const std::string& name) {
    Record& record = variant.record;
    PreparedVariant& prepared = *variant.prepared;
    const NvtxRange in_variant(record.variant_id), in_phase("count");
    tell_({.phase = Phase::count, .variant_id = record.variant_id});
    const CounterSet set = counter_set(name, counter_target(record.work.device));
    const PreparedTraits& traits = prepared.traits();
    if (!traits.why_not_counted.empty()) return uncounted(set, traits.why_not_counted);
    if (traits.count) return traits.count(set);
    // With warm caches one execution suffices: each leaves them warm for the next.
    bool warm = false;
    const auto restore = [&] {
      if (task_.measure.cache == CacheState::cold) return bench_->device->evict_caches();
      if (!std::exchange(warm, true)) prepared.run();
    };
    auto counters = hilbench::count(set, bench_->threads, restore, [&] { prepared.run(); });
    bench_->device->synchronize();  // shows a failed kernel here, while its variant is in flight
    return counters;
  }

  static std::map<std::string, Counter> uncounted(const CounterSet& set, const std::string& why) {
    std::map<std::string, Counter> counters;
    const Counter unread{.reason = why};
    for (const CounterEvent& event : set.events) counters.emplace(event.name, unread);
    for (const DerivedCounter& derived : set.derived) counters.emplace(derived.name, unread);
    return counters;
  }

  void measure_itself(VerifiedVariant& variant) {
    tell_({.phase = Phase::count, .variant_id = variant.record.variant_id});
    variant.record.counters.merge(variant.prepared->measured());
  }

  // Adds the layout counts of the variant's index.
  void describe(VerifiedVariant& variant) {
    Record& record = variant.record;
    const Index* index = variant.prepared->traits().index;
    tell_({.phase = Phase::count, .variant_id = record.variant_id});
    if (record.variant.baseline || index == nullptr) return;
    const TileReads reads = tile_reads(record.work, *index, kLocalityVisits);
    const std::int64_t head_bytes = row_bytes(record.work, 1);
    record.counters.merge(locality_counters(measure_locality(reads.visits, reads.tile_begin, head_bytes,
                                                             row_bytes(record.work, record.work.kv_heads))));
  }

  const ComparisonTask& task_;
  const std::function<void(const TaskEvent&)>& tell_;
  std::unique_ptr<RingHost> rings_;  // moves into the bench
  Turns turns_{task_.turns};
  ComparisonPrograms programs_{task_};
  std::unique_ptr<Bench> bench_;
  std::vector<VerifiedVariant> verified_;
};

}  // namespace

void run_task(const ComparisonTask& task, const std::function<void(const TaskEvent&)>& tell,
              std::unique_ptr<RingHost> rings) {
  TaskRun run(task, tell, std::move(rings));
  try {
    run.run();
  } catch (...) {
    run.note_lost_device();
    throw;
  }
}

int worker_main(int task_fd, int event_fd) {
  const auto write_json = [event_fd](const nlohmann::json& json) {
    write_all(event_fd, json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  };
  // Programs that this process starts must not keep its pipes open or write to them.
  if (::fcntl(task_fd, F_SETFD, FD_CLOEXEC) != 0 || ::fcntl(event_fd, F_SETFD, FD_CLOEXEC) != 0) return 126;
  try {
    const ComparisonTask task = task_from_json(nlohmann::json::parse(read_all(task_fd)));
    if (task.turns >= 0 && ::fcntl(task.turns, F_SETFD, FD_CLOEXEC) != 0) return 126;
    const std::string& case_id = task.records.at(0).case_id;
    run_task(task, [&](const TaskEvent& event) {
      write_json(to_json(event));
      fail_point(kFailPoints[static_cast<std::size_t>(event.phase)], {case_id, event.variant_id});
    });
    return 0;
  } catch (const std::exception& error) {
    write_json({{"error", error.what()}});
    return 1;
  }
}

}  // namespace hilbench
