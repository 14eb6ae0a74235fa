// The task that a supervisor gives to a worker, and the events that the worker reports: JSON lines over
// pipes.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/sweep/settings.hpp"
#include "reports/records/record.hpp"

namespace hilbench {

// Of the tasks and events below. A gate drives workers of another build only if both speak the same.
inline constexpr int kTaskProtocol = 5;

// Whether variants are verified before the timing too. If not, another process of the same build and case has
// done it.
enum class Verify { before_and_after, after };

// The part of a comparison that one process measures.
struct ComparisonTask {
  std::vector<Record> records;           // variants to measure, filled as far as the plan knows
  std::optional<std::size_t> reference;  // index into records
  std::string chain_end;                 // id of the other end of `measure.protocols`
  Measure measure;                       // budget_s and seed are for this process
  Inputs inputs;
  std::vector<std::string> counters;  // names of counter sets; empty: do not count
  std::int64_t counts = 1;            // how often each variant is counted in this process
  Verify verify = Verify::before_and_after;
  int turns = -1;  // socket of the process that measures in turns with this one; -1: it measures alone
  int device_ordinal = 0;      // number of the GPU
  std::filesystem::path dump;  // write inputs and outputs here; empty: do not
  Externals externals;         // baselines that are separate programs
  int fork_server = -1;  // socket for programs of this build, see ForkServer; -1: they start by themselves
};
nlohmann::json to_json(const ComparisonTask& task);
ComparisonTask task_from_json(const nlohmann::json& json);

enum class Phase { prepare, verify, time, count };
inline constexpr std::array kPhases = {Phase::prepare, Phase::verify, Phase::time, Phase::count};
std::string_view to_string(Phase phase);

// One line from the worker. `record` is set if a variant is finished; otherwise the event says what begins.
struct TaskEvent {
  Phase phase = Phase::prepare;
  std::string variant_id;  // empty while the inputs are prepared
  std::int64_t round = 0;  // while timing
  double spent_s = 0;      // while timing
  std::optional<Record> record;

  TaskEvent without_record() const {
    return {.phase = phase, .variant_id = variant_id, .round = round, .spent_s = spent_s, .record = {}};
  }
};
nlohmann::json to_json(const TaskEvent& event);
TaskEvent event_from_json(const nlohmann::json& json);

}  // namespace hilbench
