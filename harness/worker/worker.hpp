// The worker: one process that measures one comparison and tells each step. Nothing it does can hurt the
// supervisor: it may crash, hang or be killed.
#pragma once

#include <functional>

#include "harness/measure/comparison_task.hpp"

namespace hilbench {

class LaunchedProcesses;

// For each variant: verify, then time, then count. A variant whose order is no valid map is `invalid`, one
// whose output is wrong is `failed`; neither is timed. Tells an event before each step and one with the
// record when a variant is settled. Throws Error where the comparison as a whole cannot be measured.
// `processes`: those of an MPI program that this one leads; the ranks of rings are theirs.
void run_task(const ComparisonTask& task, const std::function<void(const TaskEvent&)>& tell,
              LaunchedProcesses* processes = nullptr);

// Entry of the worker process: reads a task from `task_fd`, writes events to `event_fd`, one JSON line each.
// An error of the whole task is written as a line {"error": ...}. Returns the exit status.
int worker_main(int task_fd, int event_fd);

}  // namespace hilbench
