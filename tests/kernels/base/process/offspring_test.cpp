#include "kernels/base/process/offspring.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace hilbench {
namespace {

// Whether this process is seen so within seconds: a sanitizer has a thread of its own, which sleeps mostly.
bool is_seen(bool computing) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (computes(::getpid()) != computing && std::chrono::steady_clock::now() < end) ::usleep(100);
  return computes(::getpid()) == computing;
}

TEST(Offspring, AThreadThatComputesIsSeen) {
  EXPECT_TRUE(is_seen(false)) << "the calling thread does not count";
  std::atomic<bool> stop = false;
  std::thread thread([&] {
    while (!stop) continue;
  });
  EXPECT_TRUE(is_seen(true));
  stop = true;
  thread.join();
  EXPECT_TRUE(is_seen(false));
  EXPECT_EQ(computes(0x7fffffff), std::nullopt) << "there is no such process";
}

}  // namespace
}  // namespace hilbench
