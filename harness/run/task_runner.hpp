// What runs a task: a worker process, or the processes of a launcher.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/measure/comparison_task.hpp"

namespace hilbench {

// The result of running a task once.
struct TaskResult {
  std::vector<Record> settled;
  std::string failure;    // why it did not finish; empty if it did
  std::string in_flight;  // the variant at work when it ended; empty if it was none
  Phase phase = Phase::prepare;
};

// Runs a task once and passes on each event.
using TaskRunner = std::function<TaskResult(const ComparisonTask& task,
                                            const std::function<void(const TaskEvent&)>& progress)>;

}  // namespace hilbench
