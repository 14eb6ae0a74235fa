// The phases of a task. Each is a function from the variants that it gets to those that it leaves; what it
// drops, it has told of. All throw Error if nothing of the comparison can be measured.
#pragma once

#include <functional>
#include <vector>

#include "harness/external/comparison_programs.hpp"
#include "harness/measure/bench.hpp"
#include "harness/measure/comparison_task.hpp"
#include "harness/measure/prepared_variant.hpp"
#include "harness/measure/turns.hpp"

namespace hilbench {

// What all phases of one task work with.
struct TaskContext {
  const ComparisonTask& task;
  const std::function<void(const TaskEvent&)>& tell;
  Bench& bench;
  ComparisonPrograms& programs;
};

// Prepares the variants of the task, and keeps those whose output is right.
std::vector<VerifiedVariant> verified(const TaskContext& run);
// Keeps those that the key probe finds no fault in, and gives all of them the ordinary inputs again.
std::vector<VerifiedVariant> probed(const TaskContext& run, std::vector<VerifiedVariant> variants);
// `variants` must not be empty.
std::vector<VerifiedVariant> timed(const TaskContext& run, Turns& turns,
                                   std::vector<VerifiedVariant> variants);
// Counts what each variant measures itself, the counter sets of the task, and the locality of its rows.
std::vector<VerifiedVariant> counted(const TaskContext& run, std::vector<VerifiedVariant> variants);

}  // namespace hilbench
