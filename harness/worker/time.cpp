#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "harness/device/bound_threads.hpp"
#include "harness/measure/disturbance.hpp"
#include "harness/measure/timing.hpp"
#include "harness/worker/peak_check.hpp"
#include "harness/worker/phases.hpp"
#include "harness/worker/poisoned_rounds.hpp"
#include "kernels/base/text/json.hpp"
#include "kernels/machine/host_memory.hpp"

namespace hilbench {
namespace {

std::optional<std::size_t> reference_of(const ComparisonTask& task,
                                        const std::vector<VerifiedVariant>& variants) {
  if (!task.reference) return std::nullopt;
  for (std::size_t i = 0; i < variants.size(); ++i)
    if (variants[i].record.variant_id == task.records[*task.reference].variant_id) return i;
  return std::nullopt;
}

// The system may have split huge pages meanwhile, for example because memory became scarce.
void check_pages_again(PageSize pages, std::vector<VerifiedVariant>& variants) {
  const std::optional<std::string> fault = pages_fault(pages);
  if (!fault) return;
  for (VerifiedVariant& variant : variants) {
    variant.record.status = Status::invalid;
    variant.record.reason = *fault;
  }
}

// What one process of a comparison was like.
nlohmann::json process_json(const TaskContext& run, const Disturbance& disturbance) {
  nlohmann::json process = disturbance.seen();
  process["seed"] = exact_json(run.task.measure.seed);
  if (run.bench.work.device == DeviceKind::cuda) process["processor_share"] = nullptr;
  if (run.bench.work.device == DeviceKind::cpu) {
    const std::optional<HugeShare> share = huge_share();
    process["huge_pages"] = share ? nlohmann::json(share->mean) : nlohmann::json(nullptr);
  }
  // Programs and ranks outside of this process would count as disturbers.
  if (!run.task.externals.empty() || run.bench.rings->spans_processes())
    process["other_busy_cores"] = nullptr;
  return process;
}

// The times of all variants are void.
void settle_void(const TaskContext& run, std::vector<VerifiedVariant> variants,
                 const IdleWatch::Burner& burner) {
  const std::string who =
      burner.variant ? "'" + variants[*burner.variant].record.kernel + "'" : "a process that a program left";
  const std::string what = fmt::format(
      "computed while it was not asked: {:.2g} cores were busy in {:.2g} s; threads that wait by spinning "
      "compute too",
      burner.cores, burner.seconds);
  for (std::size_t v = 0; v < variants.size(); ++v) {
    if (burner.variant == v)
      settle(run, std::move(variants[v].record), Status::failed, what);
    else
      settle(run, std::move(variants[v].record), Status::invalid,
             fmt::format("its times are void: {} {}", who, what));
  }
}

}  // namespace

std::vector<VerifiedVariant> timed(const TaskContext& run, Turns& turns,
                                   std::vector<VerifiedVariant> variants) {
  const auto progress = [&](const std::string& id, std::int64_t round, double spent_s) {
    run.bench.observe();
    run.tell({.phase = Phase::time, .variant_id = id, .round = round, .spent_s = spent_s});
  };
  const auto waiting = [&] { run.tell({.phase = Phase::time}); };
  turns.take(waiting);
  turns.pass();  // now both processes are prepared
  Disturbance disturbance;
  if (turns.shared()) disturbance.pause();
  const Turn turn = {.begin =
                         [&] {
                           turns.take(waiting);
                           disturbance.resume();
                         },
                     .end =
                         [&] {
                           if (turns.shared()) disturbance.pause();
                           turns.pass();
                         }};
  const bool one_processor = run.bench.work.device == DeviceKind::cpu && run.bench.work.ring_size == 1;
  const BoundThreads bound(one_processor ? run.bench.threads : 0);  // ranks bind theirs
  PoisonedRounds poisoned(run, variants);
  std::vector<TimedSamples> samples;
  try {
    poisoned.expect_idle();
    samples = time_variants(*run.bench.device, variants, reference_of(run.task, variants), run.task.measure,
                            progress, turn, &poisoned);
    poisoned.expect_idle_at_the_end();
  } catch (const PoisonedRounds::Disturbed& disturbed) {
    settle_void(run, std::move(variants), disturbed.by);
    return {};
  }
  turns.take(waiting);  // the other process has measured its last round
  nlohmann::json process = process_json(run, disturbance);
  if (one_processor) process["threads_bound"] = bound.bound();
  if (const std::int64_t wanted = fewest_rounds(run.task.measure); std::ssize(samples.front().ns) < wanted)
    process["rounds_wanted"] = wanted;
  poisoned.judge(samples);
  const EndTimes ends = time_protocols(run, variants, samples);
  for (std::size_t i = 0; i < variants.size(); ++i) {
    Timing timing;
    timing.samples_ns = samples[i].ns;
    timing.process_rounds = {static_cast<std::int64_t>(samples[i].ns.size())};
    const PreparedTraits& traits = variants[i].prepared->traits();
    timing.timer = traits.run_timed ? traits.timer : samples[i].timer;
    if (reference_of(run.task, variants) == i) timing.protocols = ends.start;
    if (variants[i].record.variant_id == run.task.chain_end) timing.protocols = ends.end;
    variants[i].record.time = timing;
    variants[i].record.energy = samples[i].energy;
    if (traits.requests) variants[i].record.requests = traits.requests();
    (*variants[i].record.environment)["device_state"] = run.bench.device_state();
    (*variants[i].record.environment)["processes"] = nlohmann::json::array({process});
  }
  check_against_peak(variants, run.bench.work, *run.bench.device);
  check_pages_again(run.bench.work.pages, variants);
  return variants;
}

}  // namespace hilbench
