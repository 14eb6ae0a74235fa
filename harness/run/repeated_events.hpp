// Repeats what a task is at while it says nothing: for tasks that run in this process.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "harness/measure/comparison_task.hpp"
#include "harness/run/repeating_thread.hpp"

namespace hilbench {

// Passes events on. If none comes for `every`, a thread of its own passes on the last one again, without its
// record. Calls of `progress` do not overlap; it must not throw for a repeated event.
class RepeatedEvents {
 public:
  RepeatedEvents(std::function<void(const TaskEvent&)> progress, std::chrono::milliseconds every);

  void pass(const TaskEvent& event);

 private:
  void repeat();

  const std::function<void(const TaskEvent&)> progress_;
  bool passed_ = false;  // an event since the thread looked last
  std::optional<TaskEvent> last_;
  RepeatingThread thread_;  // its mutex also guards calls of progress_
};

}  // namespace hilbench
