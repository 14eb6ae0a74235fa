#include "harness/run/repeating_thread.hpp"

#include <signal.h>

#include <utility>

namespace hilbench {

RepeatingThread::RepeatingThread(std::chrono::duration<double> every, std::function<void()> work) {
  sigset_t all, before;  // the thread inherits the mask
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_ = std::thread([this, every, work = std::move(work)] {
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, every, [this] { return end_; })) work();
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

RepeatingThread::~RepeatingThread() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

}  // namespace hilbench
