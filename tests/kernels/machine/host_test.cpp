#include "kernels/machine/host.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "kernels/base/text/error.hpp"
#include "tests/kernels/machine/fake_root.hpp"

namespace hilbench {
namespace {

TEST(Host, InstructionSetsHaveTheNamesThatPeopleKnow) {
  EXPECT_EQ(simd_text("AVX3"), "AVX-512");
  EXPECT_EQ(simd_text("AVX3_ZEN4"), "AVX-512 as on Zen 4");
  EXPECT_EQ(simd_text("AVX2"), "AVX2");
}

TEST(InspectHost, KnowsThisMachine) {
  const Host host = inspect_host();
  EXPECT_FALSE(host.cpu.empty());
  EXPECT_GE(host.cores, 1);
  EXPECT_GE(host.sockets, 1);
  EXPECT_GT(host.memory_bytes, std::int64_t{1} << 26);
  EXPECT_GT(host.available_memory_bytes, 0);
  EXPECT_LE(host.available_memory_bytes, host.memory_bytes);
  EXPECT_FALSE(host.simd.empty());
  std::int64_t smaller = 0;
  for (const CacheLevel& cache : host.data_caches) {
    EXPECT_GT(cache.bytes, smaller) << cache.level;
    EXPECT_GE(cache.shared_by, 1);
    smaller = cache.bytes;
  }
}

TEST(DefaultThreads, FollowsTheVariableWhereItIsAPositiveNumber) {
  const char* before = std::getenv("OMP_NUM_THREADS");
  const std::string kept = before == nullptr ? "" : before;
  const Host host{.cores = 5, .threads = 8};
  for (const auto& [value, threads] :
       {std::pair{"3", 3}, std::pair{"4,2", 4}, std::pair{"0", 5}, std::pair{"-2", 5}, std::pair{"many", 5},
        std::pair{"2x", 5}, std::pair{"-99999999999", 5}, std::pair{"", 5}, std::pair{"8", 8},
        std::pair{"9", 8}, std::pair{"99999999999", 8}, std::pair{"9,2", 8}}) {
    setenv("OMP_NUM_THREADS", value, 1);
    EXPECT_EQ(default_threads(host), threads) << value;
    if (value[0] == '9')
      EXPECT_THROW(expect_threads(host), UsageError) << value;
    else
      EXPECT_NO_THROW(expect_threads(host)) << value;
  }
  // Neither the mask nor a quota lets more of them run at once.
  setenv("OMP_NUM_THREADS", "8", 1);
  EXPECT_EQ(default_threads({.cores = 2, .threads = 8, .allowed_cores = 4}), 4);
  EXPECT_EQ(default_threads({.cores = 2, .threads = 8, .allowed_cores = 4, .quota_cores = 1.5}), 2);
  EXPECT_EQ(default_threads({.cores = 1, .threads = 8, .allowed_cores = 4, .quota_cores = 0.25}), 1);
  unsetenv("OMP_NUM_THREADS");
  EXPECT_EQ(default_threads(host), 5);
  EXPECT_EQ(default_threads({.cores = 2, .threads = 8, .allowed_cores = 4}), 2);
  if (before != nullptr) setenv("OMP_NUM_THREADS", kept.c_str(), 1);
}

class AvailableMemory : public FakeRoot {
 protected:
  void SetUp() override {
    FakeRoot::SetUp();
    write("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    8000 kB\n");
  }
};

TEST_F(AvailableMemory, IsTheKernelsWithoutGroups) {
  EXPECT_EQ(available_memory(root_), 8000 * 1024);
}

TEST_F(AvailableMemory, IsWhatTheTightestGroupOfVersion2Leaves) {
  write("proc/self/cgroup", "0::/outer/inner\n");
  write("sys/fs/cgroup/outer/memory.max", "1000000\n");
  write("sys/fs/cgroup/outer/memory.current", "400000\n");
  write("sys/fs/cgroup/outer/memory.stat", "anon 7\ninactive_file 50000\n");
  write("sys/fs/cgroup/outer/inner/memory.max", "max\n");
  write("sys/fs/cgroup/outer/inner/memory.current", "1\n");
  EXPECT_EQ(available_memory(root_), 650000);
}

TEST_F(AvailableMemory, KnowsVersion1AndItsNumberForNoLimit) {
  write("proc/self/cgroup", "5:devices:/x\n4:memory:/job\n0::/\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "5\n");
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "3000\n");
  write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1000\n");
  EXPECT_EQ(available_memory(root_), 2000);
}

TEST_F(AvailableMemory, IsNeverNegativeAndZeroWhereNothingIsKnown) {
  write("proc/self/cgroup", "garbage\n0::/\n");
  write("sys/fs/cgroup/memory.max", "10\n");
  write("sys/fs/cgroup/memory.current", "20\n");
  EXPECT_EQ(available_memory(root_), 0);
  EXPECT_EQ(available_memory(root_ / "nowhere"), 0);
}

}  // namespace
}  // namespace hilbench
