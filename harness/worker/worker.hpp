// The worker: a process that measures one comparison and reports each step. It may crash, hang or be killed
// without harm to the supervisor.
#pragma once

#include <functional>
#include <memory>

#include "harness/measure/comparison_task.hpp"
#include "harness/measure/ring_host.hpp"
#include "harness/ring/thread_ranks.hpp"

namespace hilbench {

// Verifies all variants, times the right ones, then counts. A variant is `invalid` if its order is no valid
// map, and `failed` if its output is wrong; neither is timed. Calls `tell` before each step, and with the
// record when a variant is finished. `rings` runs the ranks of rings. Throws Error if nothing of the
// comparison can be measured.
void run_task(const ComparisonTask& task, const std::function<void(const TaskEvent&)>& tell,
              std::unique_ptr<RingHost> rings = thread_rings());

// Main function of the worker process. Reads a task from `task_fd` and writes events to `event_fd`, one JSON
// line each. If the whole task fails, it writes the line {"error": ...}. Returns the exit status.
int worker_main(int task_fd, int event_fd);

}  // namespace hilbench
