#include "kernels/machine/processor_limits.hpp"

#include <sched.h>

#include "kernels/machine/host.hpp"
#include "tests/kernels/machine/fake_root.hpp"

namespace hilbench {
namespace {

class ProcessorLimits : public FakeRoot {};

TEST_F(ProcessorLimits, OfNoGroupAreNone) {
  EXPECT_FALSE(quota_cores(root_));
  EXPECT_TRUE(throttled_s(root_).empty());
  write("proc/self/cgroup", "garbage\n0::/user.slice\n");
  write("sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");
  EXPECT_FALSE(quota_cores(root_));
}

TEST_F(ProcessorLimits, TheSmallestQuotaOfNestedGroupsHolds) {
  write("proc/self/cgroup", "0::/pod/container/inner\n");
  write("sys/fs/cgroup/pod/cpu.max", "150000 100000\n");
  write("sys/fs/cgroup/pod/container/cpu.max", "400000 100000\n");
  write("sys/fs/cgroup/pod/container/inner/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/other/cpu.max", "10000 100000\n");
  EXPECT_EQ(quota_cores(root_), 1.5);
  write("sys/fs/cgroup/pod/container/inner/cpu.max", "40000 50000\n");
  EXPECT_EQ(quota_cores(root_), 0.8);
}

TEST_F(ProcessorLimits, AContainerMaySeeItsGroupAsTheMount) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(quota_cores(root_), 2);
  write("proc/self/cgroup", "0::/../../elsewhere\n");
  EXPECT_EQ(quota_cores(root_), 2);
}

TEST_F(ProcessorLimits, Version1HasItsOwnFiles) {
  write("proc/self/cgroup", "5:cpuset:/\n4:cpu,cpuacct:/docker/0123\n0::/\n");
  write("sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_period_us", "100000\n");
  EXPECT_FALSE(quota_cores(root_));
  write("sys/fs/cgroup/cpu,cpuacct/docker/0123/cpu.cfs_quota_us", "80000\n");
  write("sys/fs/cgroup/cpu,cpuacct/docker/0123/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota_cores(root_), 0.8);
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");  // the usual link
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota_cores(root_), 0.5);
}

TEST_F(ProcessorLimits, EveryGroupSaysHowLongItWasThrottled) {
  write("proc/self/cgroup", "0::/pod/container\n");
  write("sys/fs/cgroup/cpu.stat", "usage_usec 5\n");
  write("sys/fs/cgroup/pod/cpu.stat", "usage_usec 5\nnr_throttled 2\nthrottled_usec 1500000\n");
  write("sys/fs/cgroup/pod/container/cpu.stat", "throttled_usec 250000\n");
  EXPECT_EQ(throttled_s(root_), (std::vector<double>{0.25, 1.5}));
  write("proc/self/cgroup", "4:cpu:/job\n");
  write("sys/fs/cgroup/cpu/job/cpu.stat", "nr_periods 9\nnr_throttled 2\nthrottled_time 3000000000\n");
  EXPECT_EQ(throttled_s(root_), std::vector<double>{3});
}

TEST(AllowedCores, AreThoseOfTheMask) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(allowed_cores(), CPU_COUNT(&before));
  CPU_ZERO(&one);
  for (unsigned core = 0; CPU_COUNT(&one) == 0; ++core)
    if (CPU_ISSET(core, &before)) CPU_SET(core, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(allowed_cores(), 1);
  EXPECT_EQ(inspect_host().cores, 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(LimitedCores, AreNamedWithWhatLimitsThem) {
  EXPECT_EQ(limited_cores_text({.threads = 16, .allowed_cores = 16}), "");
  EXPECT_EQ(limited_cores_text({.threads = 16, .allowed_cores = 16, .quota_cores = 20}), "");
  EXPECT_EQ(limited_cores_text({.threads = 0, .allowed_cores = 2}), "") << "what the machine has is unknown";
  EXPECT_EQ(limited_cores_text({.threads = 16, .allowed_cores = 2}), "2 of 16 cores (affinity mask)");
  EXPECT_EQ(limited_cores_text({.threads = 16, .allowed_cores = 2, .quota_cores = 0.8}),
            "0.8 of 16 cores (quota of a cgroup)");
}

TEST(ProcessorWarning, SaysWhatTimesAreOf) {
  EXPECT_EQ(processor_warning({.threads = 16, .allowed_cores = 16}, 16), "");
  EXPECT_EQ(processor_warning({.threads = 16, .allowed_cores = 2}, 2),
            "this process may use 2 of 16 cores (affinity mask); times are those of 2 cores");
  EXPECT_EQ(processor_warning({.threads = 16, .allowed_cores = 16, .quota_cores = 1.5}, 2),
            "this process may use 1.5 of 16 cores (quota of a cgroup); times are those of 1.5 cores");
  EXPECT_EQ(processor_warning({.threads = 16, .allowed_cores = 1}, 1),
            "this process may use 1 of 16 cores (affinity mask); times are those of 1 core");
  EXPECT_EQ(processor_warning({.threads = 16, .allowed_cores = 2}, 8),
            "this process may use 2 of 16 cores (affinity mask); 8 threads wait for each other");
  EXPECT_EQ(processor_warning({.threads = 16, .allowed_cores = 16}, 17),
            "this process may use 16 cores, all there are; 17 threads wait for each other");
  EXPECT_EQ(processor_warning({}, 8), "") << "what the machine has is unknown";
}

}  // namespace
}  // namespace hilbench
