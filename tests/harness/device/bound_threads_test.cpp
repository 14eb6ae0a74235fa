#include "harness/device/bound_threads.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <cstdlib>
#include <set>
#include <thread>

#include "kernels/machine/host.hpp"

namespace hilbench {
namespace {

cpu_set_t where() {
  cpu_set_t set;
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  return set;
}

// What each OpenMP thread of the calling thread may run on.
std::vector<cpu_set_t> where_all(int threads) {
  std::vector<cpu_set_t> sets(static_cast<std::size_t>(threads));
#pragma omp parallel num_threads(threads)
  sets[static_cast<std::size_t>(omp_get_thread_num())] = where();
  return sets;
}

int number_of(const cpu_set_t& set) {
  EXPECT_EQ(CPU_COUNT(&set), 1);
  for (unsigned number = 0; number < CPU_SETSIZE; ++number)
    if (CPU_ISSET(number, &set)) return static_cast<int>(number);
  return -1;
}

class BoundThreadsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"})
      if (std::getenv(name) != nullptr) GTEST_SKIP() << name << " is set";
    if (all_.empty()) GTEST_SKIP() << "the hardware threads are not known here";
  }
  void TearDown() override { unsetenv("OMP_PROC_BIND"); }

  const std::vector<int> all_ = usable_hardware_threads();
  const int threads_ = static_cast<int>(all_.size());
};

TEST_F(BoundThreadsTest, EachThreadHasAHardwareThreadOfItsOwnUntilTheEnd) {
  const std::vector<cpu_set_t> before = where_all(threads_);
  {
    const BoundThreads bound(threads_);
    ASSERT_TRUE(bound.bound());
    const std::vector<cpu_set_t> sets = where_all(threads_);
    for (std::size_t i = 0; i < sets.size(); ++i) EXPECT_EQ(number_of(sets[i]), all_[i]);
    EXPECT_EQ(std::set(all_.begin(), all_.end()).size(), all_.size());
  }
  const std::vector<cpu_set_t> after = where_all(threads_);
  for (std::size_t i = 0; i < after.size(); ++i) EXPECT_TRUE(CPU_EQUAL(&after[i], &before[i]));
}

TEST_F(BoundThreadsTest, ThreadsOfSeveralRanksLieApart) {
  if (threads_ < 2) GTEST_SKIP() << "this machine has one hardware thread";
  for (int rank = 0; rank < 2; ++rank)
    std::thread([&, rank] {
      const BoundThreads bound(1, rank, 2);
      EXPECT_EQ(number_of(where()), all_[static_cast<std::size_t>(rank)]);
    }).join();
}

TEST_F(BoundThreadsTest, TooManyThreadsAreLeftAlone) {
  const cpu_set_t before = where();
  EXPECT_FALSE(BoundThreads(threads_ + 1).bound());
  EXPECT_FALSE(BoundThreads(1, 0, threads_ + 1).bound());
  EXPECT_FALSE(BoundThreads(0).bound());
  const cpu_set_t after = where();
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST_F(BoundThreadsTest, TheUserDecides) {
  ASSERT_EQ(setenv("OMP_PROC_BIND", "false", 1), 0);
  EXPECT_FALSE(BoundThreads(1).bound());
}

}  // namespace
}  // namespace hilbench
