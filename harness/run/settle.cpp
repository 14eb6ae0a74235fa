#include "harness/run/settle.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/run/worker_process.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/hash.hpp"
#include "kernels/base/text/text.hpp"
#include "reports/records/counts.hpp"
#include "reports/records/finish_statistics.hpp"
#include "reports/records/record_consistency.hpp"

namespace hilbench {
namespace {

void fail(Record& record, std::string reason) {
  record.status = Status::failed;
  record.reason = std::move(reason);
}

Record* find_record(std::vector<Record>& records, const std::string& variant_id) {
  const auto at = std::find_if(records.begin(), records.end(),
                               [&](const Record& record) { return record.variant_id == variant_id; });
  return at == records.end() ? nullptr : &*at;
}

// Least and most.
bool is_range(const nlohmann::json& value) {
  return value.is_array() && value.size() == 2 && value[0].is_number() && value[1].is_number();
}

// The task without the variants in `settled`. `reference` is adjusted to the new place of its record.
ComparisonTask remaining(const ComparisonTask& task, std::vector<Record>& settled) {
  ComparisonTask rest = task;
  rest.records.clear();
  rest.reference.reset();
  for (std::size_t i = 0; i < task.records.size(); ++i) {
    if (find_record(settled, task.records[i].variant_id) != nullptr) continue;
    if (task.reference == i) rest.reference = rest.records.size();
    rest.records.push_back(task.records[i]);
  }
  return rest;
}

// Adds what another process saw of the devices: least and most, all reasons of throttling, the most foreign
// processes.
void join_states(nlohmann::json& total, const nlohmann::json& part) {
  if (!total.is_object() || !part.is_object()) {
    if (total.is_null()) total = part;
    return;
  }
  for (const auto& [key, value] : part.items()) {
    nlohmann::json& into = total[key];
    if (into.is_null()) {
      into = value;
    } else if (key == "throttle" && into.is_array() && value.is_array()) {
      for (const nlohmann::json& reason : value)
        if (std::find(into.begin(), into.end(), reason) == into.end()) into.push_back(reason);
    } else if (key == "further" && into.is_array() && value.is_array()) {
      for (std::size_t i = 0; i < std::min(into.size(), value.size()); ++i) join_states(into[i], value[i]);
    } else if (key == "foreign_processes" && value.is_number()) {
      into = std::max(into, value);
    } else if (is_range(into) && is_range(value)) {
      into = {std::min(into[0], value[0]), std::max(into[1], value[1])};
    }
  }
}

// A process without energy leaves the whole variant without.
void join_energy(std::optional<Energy>& total, const std::optional<Energy>& part) {
  if (!total || !part || !total->reason.empty()) return;
  if (!part->reason.empty()) {
    total = Energy{.reason = part->reason};
    return;
  }
  total->samples_j.insert(total->samples_j.end(), part->samples_j.begin(), part->samples_j.end());
}

// The worst of all processes counts. One that verified after the timing alone has no rows of before.
void join_verifications(Verification& total, const Verification& part) {
  if (part.before.rows > 0 && worst_share(part.before) > worst_share(total.before))
    total.before = part.before;
  if (!part.after || !total.after)
    total.after.reset();  // not every process has verified
  else if (worst_share(*part.after) > worst_share(*total.after))
    total.after = part.after;
  total.poisoned_rounds += part.poisoned_rounds;
  total.once = total.once || part.once;
  total.entropy.insert(total.entropy.end(), part.entropy.begin(), part.entropy.end());
}

void join_requests(Requests& total, const Requests& part) {
  total.count += part.count;
  total.executions += part.executions;
  total.reported_ns += part.reported_ns;
  total.wall_ns += part.wall_ns;
  total.processor_ns += part.processor_ns;
  total.waited_ns += part.waited_ns;
  total.empty_ns = std::min(total.empty_ns, part.empty_ns);
  const bool busy = total.busy_ns && part.busy_ns;
  total.busy_ns = busy ? std::optional(*total.busy_ns + *part.busy_ns) : std::nullopt;
  total.busy_reported_ns =
      busy ? std::optional(*total.busy_reported_ns + *part.busy_reported_ns) : std::nullopt;
}

// Every process has the same protocols.
void join_protocols(std::vector<ProtocolTimes>& total, const std::vector<ProtocolTimes>& part) {
  for (const ProtocolTimes& more : part) {
    const auto into = std::ranges::find(total, more.protocol, &ProtocolTimes::protocol);
    if (into == total.end()) continue;
    into->trials_ns.insert(into->trials_ns.end(), more.trials_ns.begin(), more.trials_ns.end());
    into->process_trials.insert(into->process_trials.end(), more.process_trials.begin(),
                                more.process_trials.end());
  }
}

// What a program says of itself; null if there is none.
nlohmann::json said_of(const Record& record, const char* key) {
  const auto library = record.environment->find("library");
  return library == record.environment->end() || !library->is_object()
             ? nlohmann::json()
             : library->value(key, nlohmann::json());
}

// Adds what another process measured.
void join(Record& total, const Record& part) {
  if (total.status != Status::ok) return;
  if (part.status != Status::ok) {
    total.status = part.status;
    total.reason = part.reason;
    if (part.status == Status::failed || part.status == Status::skipped) {
      total.time.reset();
      total.energy.reset();
    }
    if (part.status == Status::skipped) total.verify.reset();
    return;
  }
  for (const char* key : {"name", "version", "protocol", "other_function"})
    if (const auto before = said_of(total, key), now = said_of(part, key); before != now) {
      const auto text = [](const nlohmann::json& value) {
        return one_line(value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), 60);
      };
      total.time.reset();
      total.energy.reset();
      return fail(total,
                  fmt::format("its {} is {} in one process and {} in another", key, text(before), text(now)));
    }
  if (part.environment->contains("device_state"))
    join_states((*total.environment)["device_state"], (*part.environment)["device_state"]);
  if (part.environment->contains("processes") && total.environment->contains("processes"))
    for (const nlohmann::json& process : (*part.environment)["processes"])
      (*total.environment)["processes"].push_back(process);
  total.judging_peak = std::max(total.judging_peak, part.judging_peak);
  if (part.verify && total.verify) join_verifications(*total.verify, *part.verify);
  if (part.requests && total.requests) join_requests(*total.requests, *part.requests);
  add_counts(total.counters, part.counters);
  join_energy(total.energy, part.energy);
  auto& into = *total.time;
  into.samples_ns.insert(into.samples_ns.end(), part.time->samples_ns.begin(), part.time->samples_ns.end());
  into.process_rounds.insert(into.process_rounds.end(), part.time->process_rounds.begin(),
                             part.time->process_rounds.end());
  join_protocols(into.protocols, part.time->protocols);
}

}  // namespace

// Also of a record whose own environment cannot be read, so that the folder stays one that can be.
void fail_contradictions(std::vector<Record>& records) {
  const auto contradiction = [](const Record& record) -> std::string {
    try {
      expect_consistent(record);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  for (Record& record : records) {
    const std::string found = contradiction(record);
    if (found.empty()) continue;
    fail(record, found);
    record.time.reset();
    record.energy.reset();
    record.requests.reset();
    record.twin = record.variant_id.ends_with(kTwinSuffix);
    if (!contradiction(record).empty()) record.environment = nlohmann::json::object();
  }
}

std::vector<Record> settle(const ComparisonTask& task, const TaskRunner& runner,
                           const std::function<void(const TaskEvent&)>& progress) {
  std::vector<Record> settled;
  int turns = task.turns;
  for (ComparisonTask rest = task; !rest.records.empty(); rest = remaining(task, settled)) {
    rest.turns = turns;
    TaskResult result = runner(rest, progress);
    turns = -1;  // the turns ended with the worker: what is left is measured without
    // Variants are timed together in one run: after a crash they are all measured again.
    for (Record& record : result.settled)
      if (result.failure.empty() || record.status != Status::ok) settled.push_back(std::move(record));
    if (result.failure.empty()) {
      for (Record& record : remaining(task, settled).records) {
        fail(record, "the worker ended without a result for it");
        settled.push_back(record);
      }
      continue;
    }
    // The worker died between two variants. The one just settled is not the cause; the others run again.
    if (const Record* last = find_record(settled, result.in_flight); last != nullptr) continue;
    ComparisonTask unsettled = remaining(task, settled);
    const bool one_is_to_blame = find_record(unsettled.records, result.in_flight) != nullptr;
    for (Record& record : unsettled.records) {
      if (one_is_to_blame && record.variant_id != result.in_flight) continue;
      fail(record, fmt::format("{}: {}", to_string(result.phase), result.failure));
      settled.push_back(record);
    }
  }
  std::vector<Record> ordered;
  for (const Record& record : task.records) ordered.push_back(*find_record(settled, record.variant_id));
  return ordered;
}

std::uint64_t process_seed(std::uint64_t seed, std::int64_t process) {
  return process == 0 ? seed : mix(mix(seed) + static_cast<std::uint64_t>(process)) >> 2;  // seeds go to 2^62
}

std::vector<Record> measure_process(const ComparisonTask& task, std::vector<Record> before,
                                    std::int64_t process,
                                    const std::function<void(const TaskEvent&)>& progress,
                                    const TaskRunner& runner) {
  const TaskRunner run = runner ? runner : in_worker(task.measure.timeout_s);
  std::vector<Record> out;
  for (const Record& record : before)
    if (record.status != Status::ok) out.push_back(record);
  ComparisonTask share = remaining(task, out);
  const std::int64_t processes = std::max(task.measure.processes, process + 1);
  share.measure.budget_s = task.measure.budget_s / static_cast<double>(task.measure.processes);
  share.measure.seed = process_seed(task.measure.seed, process);
  share.counts = (static_cast<std::int64_t>(kFewestCounts) + processes - 1) / processes;
  if (process > 0) share.dump.clear();
  std::vector<Record> parts;
  if (!share.records.empty())
    parts = settle(share, run, progress);
  else if (share.turns >= 0)
    ::close(share.turns);  // as if a worker had ended
  if (before.empty()) before = std::move(parts);
  for (const Record& part : parts)
    if (Record* total = find_record(before, part.variant_id)) join(*total, part);
  finish_statistics(before);
  return before;
}

}  // namespace hilbench
