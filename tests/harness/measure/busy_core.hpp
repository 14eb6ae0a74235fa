// Work that keeps a core busy, and which core that is.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>

namespace hilbench {

inline void spin(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  for (volatile bool spinning = true; spinning && std::chrono::steady_clock::now() < end;) continue;
}

// Binds the calling thread to a core. What it starts meanwhile inherits that.
class OnCore {
 public:
  explicit OnCore(int core) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(core), &one);
    EXPECT_EQ(sched_getaffinity(0, sizeof before_, &before_), 0);
    EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  }
  ~OnCore() { EXPECT_EQ(sched_setaffinity(0, sizeof before_, &before_), 0); }
  OnCore(const OnCore&) = delete;
  OnCore& operator=(const OnCore&) = delete;

 private:
  cpu_set_t before_;
};

}  // namespace hilbench
