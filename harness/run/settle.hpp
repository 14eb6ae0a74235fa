// Measures a comparison to its end, whatever happens to the processes that run it.
#pragma once

#include <functional>
#include <vector>

#include "harness/run/task_runner.hpp"

namespace hilbench {

// The records of `task`'s variants: each is measured, in one run or more, or `failed` with the reason. If a
// run fails, the variant that was at work fails; the others run again.
std::vector<Record> settle(const ComparisonTask& task, const TaskRunner& runner,
                           const std::function<void(const TaskEvent&)>& progress);

// The same, repeated `measure.processes` times with the samples joined; then medians, intervals and speedups.
// The default `runner` runs tasks in worker processes.
std::vector<Record> measure_comparison(const ComparisonTask& task,
                                       const std::function<void(const TaskEvent&)>& progress,
                                       const TaskRunner& runner = nullptr);

}  // namespace hilbench
