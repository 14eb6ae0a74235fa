#include "harness/run/runner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "harness/run/environment.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/hash.hpp"
#include "kernels/ring/shard_keys.hpp"
#include "reports/records/store.hpp"

namespace hilbench {
namespace {

Record planned_record(const Sweep& sweep, const Comparison& comparison, const PlannedVariant& planned) {
  Record record;
  record.sweep = sweep.name;
  record.work = comparison.work;
  record.variant = planned.variant;
  record.case_id = comparison.case_id;
  record.variant_id = planned.id;
  const bool resolved = planned.implementation != nullptr && !planned.implementation->external;
  record.kernel = resolved ? std::string(planned.implementation->name) : planned.variant.kernel;
  record.kind = planned.variant.baseline ? ImplementationKind::baseline : ImplementationKind::kernel;
  record.threads = comparison.threads;
  record.cache = sweep.measure.cache == CacheState::cold ? "cold" : "warm";
  record.flops = planned.flops;
  record.min_bytes = planned.min_bytes;
  record.memory_bytes = planned.memory_bytes;
  record.comm_bytes = planned.comm_bytes;
  record.ring_algorithm = planned.ring_algorithm;
  record.transport = planned.transport;
  if (!planned.ring_algorithm.empty())
    record.order_chunk = shard_order(Ring(comparison.work, planned.variant), 0).chunk;
  else if (!planned.variant.baseline)
    record.order_chunk = order_request(comparison.work, planned.variant).chunk;
  if (planned.skip) {
    record.status = Status::skipped;
    record.reason = *planned.skip;
  }
  return record;
}

// Records of all variants in the plan's order: the measured ones and the skips.
std::vector<Record> assemble(const Sweep& sweep, const Comparison& comparison,
                             const std::vector<Record>& measured) {
  std::vector<Record> records;
  for (const PlannedVariant& planned : comparison.variants) {
    const auto at = std::find_if(measured.begin(), measured.end(),
                                 [&](const Record& record) { return record.variant_id == planned.id; });
    records.push_back(at != measured.end() ? *at : planned_record(sweep, comparison, planned));
  }
  return records;
}

// What a worker told of library and device state stands beside what holds for all.
void describe_environment(std::vector<Record>& records, const nlohmann::json& environment) {
  for (Record& record : records) {
    const nlohmann::json told = std::exchange(record.environment, environment);
    record.environment["library"] = nullptr;
    if (told.is_object()) record.environment.update(told);
  }
}

void tally(const std::vector<Record>& records, RunSummary& summary) {
  for (const Record& record : records) {
    if (record.status != Status::ok) ++summary.reasons[record.status][record.reason];
    switch (record.status) {
      case Status::ok:
        ++summary.ok;
        break;
      case Status::failed:
        ++summary.failed;
        break;
      case Status::invalid:
        ++summary.invalid;
        break;
      case Status::skipped:
        ++summary.skipped;
        break;
    }
  }
}

std::string outcome_text(const std::vector<Record>& records) {
  RunSummary counts;
  tally(records, counts);
  std::string text = fmt::format("{} ok", counts.ok);
  if (counts.failed > 0) text += fmt::format(", {} failed", counts.failed);
  if (counts.invalid > 0) text += fmt::format(", {} invalid", counts.invalid);
  if (counts.skipped > 0) text += fmt::format(", {} skipped", counts.skipped);
  const bool shared = std::any_of(records.begin(), records.end(),
                                  [](const Record& record) { return foreign_processes(record) > 0; });
  if (shared) text += ", no verdict: another process used the GPU";
  return text;
}

std::string_view settings_of(std::string_view fingerprint) {
  return fingerprint.substr(0, fingerprint.find(':'));
}

// The stored records of the variants that the comparison has: a filter may have left some out.
std::vector<Record> stored_records(const Store& store, const Comparison& comparison) {
  std::vector<Record> records = store.records_of(comparison.case_id);
  std::erase_if(records, [&](const Record& record) {
    return std::none_of(comparison.variants.begin(), comparison.variants.end(),
                        [&](const PlannedVariant& planned) { return planned.id == record.variant_id; });
  });
  return records;
}

std::string hash_text(std::string_view text) {
  return fmt::format("{:016x}", fnv1a(text));
}

// Whether nothing of the case was measured for a reason that is gone. Records of variants that the comparison
// does not have count too: a commit replaces them all.
bool was_only_skipped(const Store& store, const Comparison& comparison) {
  const std::vector<Record> records = store.records_of(comparison.case_id);
  return comparison.runnable() && std::all_of(records.begin(), records.end(), [](const Record& record) {
           return record.status == Status::skipped;
         });
}

// Which comparisons the store holds already. Refuses a store that holds one measured otherwise.
std::vector<bool> find_done(const Store& store, const Sweep& sweep, const Plan& plan,
                            const RunOptions& options) {
  std::vector<bool> done;
  for (const Comparison& comparison : plan.comparisons) {
    const std::optional<std::string> stored = store.fingerprint(comparison.case_id);
    done.push_back(stored.has_value());
    const std::string wanted = fingerprint(sweep, comparison);
    if (stored && was_only_skipped(store, comparison)) done.back() = false;
    if (!done.back() || covers(*stored, wanted)) continue;
    const bool same_settings = settings_of(*stored) == settings_of(wanted);
    throw UsageError(
        {.what =
             same_settings
                 ? fmt::format("the store holds {} without some of the variants as they are asked for now",
                               comparison.case_id)
                 : fmt::format("the store holds {} measured with other settings", comparison.case_id),
         .where = options.folder.string(),
         .why = same_settings ? "variants of a case are measured together, or not at all"
                              : "measure, inputs or counters have changed since",
         .remedy = "use --fresh to start over, or -o for another folder"});
  }
  return done;
}

// What the records come from. Where none is added, what is there stays true.
void describe_run(Store& store, const Sweep& sweep, const RunOptions& options) {
  store.set_meta("sweep", sweep.name);
  store.set_meta("title", sweep.title);
  store.set_meta("description", sweep.description);
  store.set_meta("sweep_file", sweep.file.string());
  store.set_meta("sweep_text", sweep.text);
  store.set_meta("command", options.command);
}

// Name, size and time of a file of inputs; its content may be too large to read once more.
std::string file_version(const std::filesystem::path& file) {
  if (file.empty()) return "";
  std::error_code size_error, time_error;
  const std::uintmax_t bytes = std::filesystem::file_size(file, size_error);
  const auto changed = std::filesystem::last_write_time(file, time_error);
  if (size_error || time_error)
    throw UsageError({.what = "cannot read the inputs",
                      .where = file.string(),
                      .why = (size_error ? size_error : time_error).message()});
  return fmt::format("{} {} {}", file.string(), bytes, changed.time_since_epoch().count());
}

// Launchers bind each process to a core or a socket unless they are told not to.
constexpr const char* kBoundNote =
    "note: rank 0 may use fewer cores than `threads`: mpirun --bind-to none, or srun --cpu-bind=none, lets "
    "it";

bool bound_below(const Plan& plan, const Host& host) {
  return std::any_of(plan.comparisons.begin(), plan.comparisons.end(), [&](const Comparison& comparison) {
    return comparison.work.device == DeviceKind::cpu && comparison.threads > host.cores;
  });
}

// Other programs take processor time: said before measuring, since it widens every interval. Empty on a quiet
// machine.
std::string busy_note(const Host& host) {
  double load = 0;
  if (::getloadavg(&load, 1) != 1 || load < 0.5) return "";
  return fmt::format("note: this machine is busy (load {:.1f} on {} cores): expect wide intervals", load,
                     host.cores);
}

}  // namespace

ComparisonTask make_task(const Sweep& sweep, const Comparison& comparison, const Host& host,
                         const std::filesystem::path& dump) {
  ComparisonTask task{.measure = sweep.measure,
                      .inputs = sweep.inputs,
                      .counters = sweep.counters,
                      .device_ordinal = host.gpu ? host.gpu->ordinal : 0,
                      .dump = dump,
                      .externals = sweep.externals};
  for (std::size_t i = 0; i < comparison.variants.size(); ++i) {
    if (comparison.variants[i].skip) continue;
    if (comparison.reference == i) task.reference = task.records.size();
    task.records.push_back(planned_record(sweep, comparison, comparison.variants[i]));
  }
  return task;
}

std::string fingerprint(const Sweep& sweep, const Comparison& comparison) {
  std::string text = fmt::format("{}|{}|{}", comparison.case_id, comparison.threads, comparison.gpu);
  const Measure& measure = sweep.measure;
  text += sweep.reference + "|";
  text += fmt::format("{} {} {} {} {} {} {}|", measure.interval, measure.budget_s, measure.min_rounds,
                      static_cast<int>(measure.cache), measure.seed, measure.processes, measure.timeout_s);
  if (measure.oversubscribe) text += "oversubscribe|";
  for (const std::filesystem::path& file : {sweep.inputs.q, sweep.inputs.k, sweep.inputs.v})
    text += file_version(file) + "|";
  for (const std::string& set : sweep.counters) text += set + "|";
  for (const auto& [name, external] : sweep.externals)
    text += fmt::format("{} {} {}|", name, fmt::join(external.command, " "),
                        sweep.external_use == ExternalUse::allowed);
  std::vector<std::string> variants;
  for (const PlannedVariant& planned : comparison.variants)
    variants.push_back(hash_text(fmt::format("{} {} {}{}", planned.id, planned.variant.order_chunk,
                                             planned.variant.order_file_hash, planned.transport)));
  return fmt::format("{}:{}", hash_text(text), fmt::join(variants, ","));
}

bool covers(std::string_view stored, std::string_view wanted) {
  if (settings_of(stored) != settings_of(wanted)) return false;
  for (std::size_t at = settings_of(wanted).size() + 1; at < wanted.size(); at += 17)
    if (stored.find(wanted.substr(at, 16), settings_of(stored).size()) == std::string_view::npos)
      return false;
  return true;
}

RunSummary run_plan(const Sweep& sweep, const Plan& plan, const Host& host, const RunOptions& options,
                    Progress& progress, const TaskRunner& runner,
                    const std::function<void(const Comparison&)>& committed) {
  Store store = Store::open_for_writing(options.folder);
  if (options.start == Start::fresh) store.erase_all();
  const std::vector<bool> done = find_done(store, sweep, plan, options);
  const auto to_do = static_cast<std::int64_t>(std::count(done.begin(), done.end(), false));
  if (to_do > 0) describe_run(store, sweep, options);
  RunSummary summary;
  summary.resumed = static_cast<std::int64_t>(done.size()) - to_do;
  std::int64_t to_measure = 0;
  for (std::size_t i = 0; i < plan.comparisons.size(); ++i)
    if (!done[i] && plan.comparisons[i].runnable()) ++to_measure;
  progress.begin(to_do, sweep.measure.budget_s * static_cast<double>(to_measure));
  if (const std::string busy = busy_note(host); to_measure > 0 && !busy.empty()) progress.note(busy);
  if (host.processes > 1 && bound_below(plan, host)) progress.note(kBoundNote);
  for (std::size_t i = 0; i < plan.comparisons.size(); ++i) {
    const Comparison& comparison = plan.comparisons[i];
    if (done[i]) {
      tally(stored_records(store, comparison), summary);
      continue;
    }
    if (stop_signal() != 0) throw Interrupted{};
    progress.comparison(comparison.case_id, comparison.runnable() ? sweep.measure.budget_s : 0);
    std::vector<Record> records;
    if (comparison.runnable())
      records = measure_comparison(
          make_task(sweep, comparison, host, options.dump),
          [&](const TaskEvent& event) { progress.event(event); }, runner);
    records = assemble(sweep, comparison, records);
    describe_environment(records, environment_json(host, comparison.work.device));
    store.commit(comparison.case_id, fingerprint(sweep, comparison), records);
    tally(records, summary);
    progress.settled(outcome_text(records));
    if (committed) committed(comparison);
  }
  store.finish();
  return summary;
}

}  // namespace hilbench
