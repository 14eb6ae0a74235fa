// The phases of a task. Each is a function from the variants that it gets to those that it leaves; what it
// drops, it has told of. All throw Error if nothing of the comparison can be measured.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/external/comparison_programs.hpp"
#include "harness/measure/bench.hpp"
#include "harness/measure/comparison_task.hpp"
#include "harness/measure/prepared_variant.hpp"
#include "harness/measure/timing.hpp"
#include "harness/measure/turns.hpp"

namespace hilbench {

constexpr std::byte kPoison{0xff};  // a value made of these bytes is NaN in every dtype

// What all phases of one task work with.
struct TaskContext {
  const ComparisonTask& task;
  const std::function<void(const TaskEvent&)>& tell;
  Bench& bench;
  ComparisonPrograms& programs;
};

// Tells of a variant that ends here.
void settle(const TaskContext& run, Record record, Status status, std::string reason);

// Prepares the variants of the task, and keeps those whose output is right.
std::vector<VerifiedVariant> verified(const TaskContext& run);
// Keeps those that the key probe finds no fault in.
std::vector<VerifiedVariant> probed(const TaskContext& run, std::vector<VerifiedVariant> variants);
// Makes them compute on the second inputs.
std::vector<VerifiedVariant> given_other_inputs(const TaskContext& run,
                                                std::vector<VerifiedVariant> variants);
// Times them, and keeps those whose output is right in poisoned rounds and after the timing. `variants` must
// not be empty.
std::vector<VerifiedVariant> timed(const TaskContext& run, Turns& turns,
                                   std::vector<VerifiedVariant> variants);
// Times the ends of the task's chain as scripts do, if the task has protocols and both ends are among
// `variants`. Of each protocol at most kProtocolTrials, as many as fit in `measure.budget_s`; those of the
// fewest runs have one at least. `samples` has the times of each variant.
struct EndTimes {
  std::vector<ProtocolTimes> start, end;
};
EndTimes time_protocols(const TaskContext& run, const std::vector<VerifiedVariant>& variants,
                        const std::vector<TimedSamples>& samples);
// How local the rows are that the tiles of the index read.
std::map<std::string, Counter> layout_counts(const Case& work, const Index& index);
// Counts what each variant measures itself, the counter sets of the task, and the locality of its rows.
std::vector<VerifiedVariant> counted(const TaskContext& run, std::vector<VerifiedVariant> variants);

}  // namespace hilbench
