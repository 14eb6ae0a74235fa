// Comparisons measured by workers that play a part. A program of these tests is its own worker: in_worker()
// starts /proc/self/exe, and main() plays the part, `fate`, that the task's sweep name asks for.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/measure/comparison_task.hpp"
#include "reports/records/record.hpp"

namespace hilbench {

constexpr const char* kDeaf = "HILBENCH_TEST_DEAF";      // a worker that has this variable reads no task
constexpr const char* kSecond = "HILBENCH_TEST_SECOND";  // a worker that has it is of a later process
constexpr const char* kLeft = "HILBENCH_TEST_LEFT";  // the file that what a worker leaves behind holds locked

// A task of these variants; the first one is the reference. Workers that say nothing for a second count as
// hung. They measure 1 ms, and 2 ms for "slow"; "bad" meets the fate.
ComparisonTask task_of(const std::string& fate, const std::vector<std::string>& ids);

// All processes of a comparison, judged as a reader of the records judges them.
std::vector<Record> measure_comparison(
    const ComparisonTask& task,
    const std::function<void(const TaskEvent&)>& progress = [](const TaskEvent&) {});

}  // namespace hilbench
