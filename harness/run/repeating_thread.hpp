// A thread that does the same thing again and again beside the one that made it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace hilbench {

// It gets no signals: they are for the thread that made it. Its owner declares it last, so that it ends
// before what it uses.
class RepeatingThread {
 public:
  // Calls `work` each time that `every` has passed, and holds mutex() while it does. `work` must not throw.
  RepeatingThread(std::chrono::duration<double> every, std::function<void()> work);
  ~RepeatingThread();
  RepeatingThread(const RepeatingThread&) = delete;
  RepeatingThread& operator=(const RepeatingThread&) = delete;

  // Guards what `work` uses.
  std::mutex& mutex() { return mutex_; }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread thread_;
};

}  // namespace hilbench
