#include "harness/run/repeated_events.hpp"

#include <utility>

namespace hilbench {

RepeatedEvents::RepeatedEvents(std::function<void(const TaskEvent&)> progress,
                               std::chrono::milliseconds every)
    : progress_(std::move(progress)), thread_(every, [this] { repeat(); }) {}

void RepeatedEvents::pass(const TaskEvent& event) {
  const std::lock_guard lock(thread_.mutex());
  progress_(event);
  last_ = event.without_record();
  passed_ = true;
}

void RepeatedEvents::repeat() {
  if (!std::exchange(passed_, false) && last_) progress_(*last_);
}

}  // namespace hilbench
