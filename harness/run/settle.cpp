#include "harness/run/settle.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/run/worker_process.hpp"
#include "reports/records/finish_statistics.hpp"

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

void join(Record& total, const Record& part) {
  if (total.status != Status::ok) return;
  if (part.status != Status::ok) {
    total.status = part.status;
    total.reason = part.reason;
    if (part.status == Status::failed) total.time.reset();
    return;
  }
  if (foreign_processes(part) > foreign_processes(total))
    total.environment["device_state"] = part.environment["device_state"];
  auto& into = *total.time;
  into.samples_ns.insert(into.samples_ns.end(), part.time->samples_ns.begin(), part.time->samples_ns.end());
  into.process_rounds.insert(into.process_rounds.end(), part.time->process_rounds.begin(),
                             part.time->process_rounds.end());
}

}  // namespace

std::vector<Record> settle(const ComparisonTask& task, const TaskRunner& runner,
                           const std::function<void(const TaskEvent&)>& progress) {
  std::vector<Record> settled;
  for (ComparisonTask rest = task; !rest.records.empty(); rest = remaining(task, settled)) {
    TaskResult result = runner(rest, progress);
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

std::vector<Record> measure_comparison(const ComparisonTask& task,
                                       const std::function<void(const TaskEvent&)>& progress,
                                       const TaskRunner& runner) {
  const TaskRunner run = runner ? runner : in_worker(task.measure.timeout_s);
  ComparisonTask share = task;
  share.measure.budget_s = task.measure.budget_s / static_cast<double>(task.measure.processes);
  std::vector<Record> records = settle(share, run, progress);
  share.counters.clear();
  share.dump.clear();
  for (std::int64_t process = 1; process < task.measure.processes; ++process) {
    std::vector<Record> failed;
    for (const Record& record : records)
      if (record.status != Status::ok) failed.push_back(record);
    ComparisonTask rest = remaining(share, failed);
    if (rest.records.empty()) break;
    const std::vector<Record> parts = settle(rest, run, progress);
    for (const Record& part : parts) join(*find_record(records, part.variant_id), part);
  }
  finish_statistics(records);
  return records;
}

}  // namespace hilbench
