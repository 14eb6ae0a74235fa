// A comparison measured to its end, whatever happens to the processes that run it.
#pragma once

#include <functional>
#include <vector>

#include "harness/run/task_runner.hpp"

namespace hilbench {

// The records of `task`'s variants, each settled: measured in one run or more, or `failed` with the reason. A
// run that fails costs the variant in flight; the others run again.
std::vector<Record> settle(const ComparisonTask& task, const TaskRunner& runner,
                           const std::function<void(const TaskEvent&)>& progress);

// The same `measure.processes` times over, samples joined, then medians, intervals and speedups. By default
// in workers.
std::vector<Record> measure_comparison(const ComparisonTask& task,
                                       const std::function<void(const TaskEvent&)>& progress,
                                       const TaskRunner& runner = nullptr);

}  // namespace hilbench
