#include "harness/ring/thread_team.hpp"

namespace hilbench {

ThreadTeam::ThreadTeam(int ranks) {
  try {
    for (int rank = 0; rank < ranks; ++rank) threads_.emplace_back([this, rank] { serve(rank); });
  } catch (...) {
    end();
    throw;
  }
}

ThreadTeam::~ThreadTeam() {
  end();
}

void ThreadTeam::end() noexcept {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  begun_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadTeam::run(const std::function<void(int)>& part) {
  std::unique_lock lock(mutex_);
  part_ = &part;
  working_ = static_cast<int>(threads_.size());
  ++calls_;
  begun_.notify_all();
  ended_.wait(lock, [this] { return working_ == 0; });
}

void ThreadTeam::serve(int rank) {
  std::unique_lock lock(mutex_);
  for (int call = 1;; ++call) {
    begun_.wait(lock, [&] { return over_ || calls_ == call; });
    if (over_) return;
    lock.unlock();
    (*part_)(rank);
    lock.lock();
    if (--working_ == 0) ended_.notify_one();
  }
}

}  // namespace hilbench
