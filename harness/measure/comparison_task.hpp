// What a supervisor asks of a worker, and what the worker tells while it works: JSON lines over pipes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/sweep/sweep.hpp"
#include "reports/records/record.hpp"

namespace hilbench {

// One process's share of one comparison.
struct ComparisonTask {
  std::vector<Record> records;           // variants to measure, with what the plan knows of them
  std::optional<std::size_t> reference;  // index into records
  Measure measure;                       // budget_s: of this process
  Inputs inputs;
  std::vector<std::string> counters;  // set names; empty: no counting pass
  int device_ordinal = 0;             // of a GPU
  std::filesystem::path dump;         // folder for inputs and outputs; empty: none
  Externals externals;                // baselines that are programs of their own
};
nlohmann::json to_json(const ComparisonTask& task);
ComparisonTask task_from_json(const nlohmann::json& json);

enum class Phase { prepare, verify, time, count };
std::string_view to_string(Phase phase);

// A line from the worker. `record` is set where a variant is settled, else the event says what begins.
struct TaskEvent {
  Phase phase = Phase::prepare;
  std::string variant_id;  // empty while the comparison's inputs are made
  std::int64_t round = 0;  // of timing
  double spent_s = 0;      // of timing
  std::optional<Record> record;
};
nlohmann::json to_json(const TaskEvent& event);
TaskEvent event_from_json(const nlohmann::json& json);

}  // namespace hilbench
