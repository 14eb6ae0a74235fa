// Tasks of small comparisons, and the story of what a worker says while it runs one.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "baselines/peak/peak.hpp"
#include "harness/worker/worker.hpp"

namespace hilbench {

inline Record planned(const std::string& kernel) {
  Record record;
  record.sweep = "worker";
  record.work = {
      .sequence_length = 96, .pattern = {{32, 2}, {96, 3}}, .heads = 2, .kv_heads = 2, .head_dim = 16};
  record.work.device = DeviceKind::cpu;
  record.kind = kernel == kPeak.name ? ImplementationKind::baseline : ImplementationKind::kernel;
  record.variant = variant_named(record.kind, kernel);
  record.kernel = kernel;
  record.variant_id = variant_id(record.variant);
  record.case_id = case_id(record.work);
  record.threads = 1;
  record.flops = 1e5;
  return record;
}

inline ComparisonTask task_of(const std::vector<std::string>& kernels) {
  ComparisonTask task;
  for (const std::string& kernel : kernels) task.records.push_back(planned(kernel));
  task.reference = 0;
  task.measure = {.budget_s = 0.02, .min_rounds = 3, .timeout_s = 60};
  return task;
}

struct Story {
  std::vector<TaskEvent> events;
  const Record& record(const std::string& id) const {
    for (const TaskEvent& event : events)
      if (event.record && event.record->variant_id == id) return *event.record;
    throw std::out_of_range(id);
  }
  bool reached(Phase phase, const std::string& id) const {
    for (const TaskEvent& event : events)
      if (event.phase == phase && event.variant_id == id) return true;
    return false;
  }
};

inline Story story_of(const ComparisonTask& task) {
  Story story;
  run_task(task, [&](const TaskEvent& event) { story.events.push_back(event); });
  return story;
}

// The task on pages of this size.
inline ComparisonTask paged_task_of(const std::vector<std::string>& kernels, PageSize pages) {
  ComparisonTask task = task_of(kernels);
  for (Record& record : task.records) record.work.pages = pages;
  return task;
}

// The share of its memory that lay on huge pages.
inline double huge_share_in(const Record& record) {
  return record.environment->at("processes").at(0).at("huge_pages");
}

}  // namespace hilbench
