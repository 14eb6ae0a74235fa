// Counts the instructions of one execution of each variant of a plan.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "harness/costs/costs.hpp"
#include "harness/counters/counters.hpp"
#include "harness/plan/plan.hpp"

namespace hilbench {

// automatic: callgrind if it is here, else hardware if the machine counts.
enum class InstructionSource { none, callgrind, hardware, automatic };

// The least tolerance of counts, as a share: three times the largest difference seen between two systems with
// the same program (glibc 2.36 and 2.39: 1.6e-4). Counts on one system differed by less
// than 1,000 instructions: what the allocator does depends on the blocks that lie free.
inline constexpr double kCallgrindTolerance = 5e-4;

struct InstructionCounter {
  InstructionSource source = InstructionSource::none;
  std::string version;  // "callgrind of valgrind-3.19.0", "perf event hardware:instructions"
  std::string absence;  // why nothing can be counted, if source is none
};
// Throws EnvironmentError if `wanted` names a source that is not here.
InstructionCounter find_instruction_counter(InstructionSource wanted);

// The set of perf events that `hardware` counts: one event.
CounterSet instruction_counter_set();

using CountProgress = std::function<void(const std::string& case_id)>;

// Fills `table.instructions`, and the cost `instructions` of the rows of processors. Every case is counted
// in a fresh process, with one thread: threads that wait for each other spin, and how often is chance. With
// Repeat::twice it is counted in two processes, and the tolerance is at least twice the largest difference.
// Throws EnvironmentError if a process cannot be started, crashes, or takes longer than `timeout_s` for each
// variant; Interrupted after a stop signal.
enum class Repeat { once, twice };
void count_instructions(CostTable& table, const Sweep& sweep, const Plan& plan, const Site& site,
                        const InstructionCounter& counter, Repeat repeat, const CountProgress& progress);

// The number of instructions in one part of callgrind's output; nothing if the text is no such part.
std::optional<double> callgrind_total(std::string_view part);

}  // namespace hilbench
