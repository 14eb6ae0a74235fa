// The worker: one process that measures one comparison and tells each step. Nothing it does can hurt the
// supervisor: it may crash, hang or be killed.
#pragma once

#include <functional>
#include <memory>

#include "harness/measure/comparison_task.hpp"
#include "harness/measure/ring_host.hpp"
#include "harness/ring/thread_ranks.hpp"

namespace hilbench {

// For each variant: verify, then time, then count. A variant whose order is no valid map is `invalid`, one
// whose output is wrong is `failed`; neither is timed. Tells an event before each step and one with the
// record when a variant is settled. Throws Error where the comparison as a whole cannot be measured.
// `rings`: where the ranks of rings run.
void run_task(const ComparisonTask& task, const std::function<void(const TaskEvent&)>& tell,
              std::unique_ptr<RingHost> rings = thread_rings());

// Entry of the worker process: reads a task from `task_fd`, writes events to `event_fd`, one JSON line each.
// An error of the whole task is written as a line {"error": ...}. Returns the exit status.
int worker_main(int task_fd, int event_fd);

}  // namespace hilbench
