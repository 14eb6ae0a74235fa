#include "harness/run/repeated_events.hpp"

#include <signal.h>

#include <utility>

namespace hilbench {

RepeatedEvents::RepeatedEvents(std::function<void(const TaskEvent&)> progress,
                               std::chrono::milliseconds every)
    : progress_(std::move(progress)) {
  sigset_t all, before;  // the thread inherits the mask: signals are for the thread that runs the task
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_ = std::thread([this, every] { repeat(every); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

RepeatedEvents::~RepeatedEvents() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void RepeatedEvents::pass(const TaskEvent& event) {
  const std::lock_guard lock(mutex_);
  progress_(event);
  last_ = event.without_record();
  passed_ = true;
}

void RepeatedEvents::repeat(std::chrono::milliseconds every) {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, every, [this] { return end_; }))
    if (!std::exchange(passed_, false) && last_) progress_(*last_);
}

}  // namespace hilbench
