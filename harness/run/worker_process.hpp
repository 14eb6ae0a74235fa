// A task in a process of its own, which may crash, hang or be killed.
#pragma once

#include "harness/run/task_runner.hpp"

namespace hilbench {

// In a worker process. One that crashes, is killed, or lets `timeout_s` pass without an event fails. Workers
// die with this process. Throws Interrupted when stop_signal() is set.
TaskRunner in_worker(double timeout_s);

}  // namespace hilbench
