// Repeats what a task is at while it says nothing: for tasks that run in this process.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "harness/measure/comparison_task.hpp"

namespace hilbench {

// Passes events on. If none comes for `every`, a thread of its own passes on the last one again, without its
// record. Calls of `progress` do not overlap; it must not throw for a repeated event.
class RepeatedEvents {
 public:
  RepeatedEvents(std::function<void(const TaskEvent&)> progress, std::chrono::milliseconds every);
  ~RepeatedEvents();
  RepeatedEvents(const RepeatedEvents&) = delete;
  RepeatedEvents& operator=(const RepeatedEvents&) = delete;

  void pass(const TaskEvent& event);

 private:
  void repeat(std::chrono::milliseconds every);

  const std::function<void(const TaskEvent&)> progress_;
  std::mutex mutex_;  // of what follows, and of calls of progress_
  std::condition_variable ended_;
  bool end_ = false, passed_ = false;  // an event since the thread looked last
  std::optional<TaskEvent> last_;
  std::thread thread_;
};

}  // namespace hilbench
