// Keeps threads of OpenMP on processors of their own while variants are timed: a thread that the scheduler
// moves starts with cold caches, and two threads on one processor take twice as long.
#pragma once

#include <sched.h>

#include <optional>
#include <vector>

namespace hilbench {

// Binds the OpenMP threads of the calling thread, each to one hardware thread, until it is destroyed by the
// same thread. It binds none if the user decides (OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY or
// KMP_AFFINITY is set), if there are fewer hardware threads than threads, or if Linux refuses. Programs and
// threads that are started meanwhile would inherit the binding: start them before.
class BoundThreads {
 public:
  explicit BoundThreads(int threads) : BoundThreads(threads, 0, threads) {}
  // Several calling threads, such as ranks, share the machine: these are `threads` of `all`, from number
  // `first`.
  BoundThreads(int threads, int first, int all);
  ~BoundThreads();
  BoundThreads(const BoundThreads&) = delete;
  BoundThreads& operator=(const BoundThreads&) = delete;

  bool bound() const;

 private:
  std::vector<std::optional<cpu_set_t>> before_;  // of each thread that is bound
};

}  // namespace hilbench
