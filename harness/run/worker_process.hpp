// Runs a task in a process of its own, which may crash, hang or be killed.
#pragma once

#include <chrono>
#include <filesystem>

#include "harness/run/task_runner.hpp"

namespace hilbench {

// Runs tasks in worker processes. A task fails if its worker crashes, is killed, or sends no event for
// `timeout_s`. While a worker sends none, `progress` gets its last event again, without its record. Workers
// are killed when this process ends. Throws Interrupted if stop_signal() is set. `program`: the build whose
// workers measure; by default this one. Whatever a worker sends, it ends at `last`.
TaskRunner in_worker(
    double timeout_s, const std::filesystem::path& program = "/proc/self/exe",
    std::chrono::steady_clock::time_point last = std::chrono::steady_clock::time_point::max());

}  // namespace hilbench
