// Runs a task in a process of its own, which may crash, hang or be killed.
#pragma once

#include "harness/run/task_runner.hpp"

namespace hilbench {

// Runs tasks in worker processes. A task fails if its worker crashes, is killed, or sends no event for
// `timeout_s`. Workers are killed when this process ends. Throws Interrupted if stop_signal() is set.
TaskRunner in_worker(double timeout_s);

}  // namespace hilbench
