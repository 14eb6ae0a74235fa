// One thread for each rank of a ring, kept from one call to the next.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace hilbench {

class ThreadTeam {
 public:
  // Throws std::system_error if a thread cannot be started.
  explicit ThreadTeam(int ranks);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  // Runs part(rank) on the thread of every rank, all at once, and waits for all of them. `part` must not
  // throw.
  void run(const std::function<void(int rank)>& part);

 private:
  void serve(int rank);
  void end() noexcept;

  std::mutex mutex_;
  std::condition_variable begun_, ended_;
  const std::function<void(int)>* part_ = nullptr;
  int calls_ = 0, working_ = 0;
  bool over_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace hilbench
