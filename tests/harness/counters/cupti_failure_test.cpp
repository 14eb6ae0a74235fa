#include <gtest/gtest.h>

#include "harness/counters/backends.hpp"

namespace hilbench {
namespace {

class CuptiFailure : public testing::TestWithParam<std::pair<int, const char*>> {};

TEST_P(CuptiFailure, GivesReasonAndRemedyAndTheCall) {
  const auto [status, text] = GetParam();
  const std::string failure = cupti_failure("cuptiRangeProfilerStart", status);
  EXPECT_NE(failure.find(text), std::string::npos) << failure;
  EXPECT_NE(failure.find("(CUPTI error " + std::to_string(status) + " of cuptiRangeProfilerStart)"),
            std::string::npos)
      << failure;
  EXPECT_EQ(failure.find('\n'), std::string::npos);
}

// Numbers of CUptiResult.
INSTANTIATE_TEST_SUITE_P(
    Statuses, CuptiFailure,
    testing::Values(
        std::pair{
            35,
            "restricted to administrators; run as root, in a container with CAP_SYS_ADMIN, or load NVIDIA's "
            "kernel module with NVreg_RestrictProfilingToAdminUsers=0"},
        std::pair{26, "another profiler holds the counting hardware; end Nsight tools, DCGM profiling"},
        std::pair{23, "another profiler holds the counting hardware"},
        std::pair{39, "a debugger or profiler is attached to this process; run without it"},
        std::pair{33, "this is a virtual GPU and its hypervisor does not allow profiling"},
        std::pair{40, "this is a virtual GPU and its hypervisor does not allow profiling"},
        std::pair{41, "confidential computing is on"}, std::pair{43, "the GPU is split (MIG)"},
        std::pair{15, "this driver is too old for this CUPTI; install a newer driver"},
        std::pair{38, "does not support the device's architecture"},
        std::pair{8, "leave some of the device's memory"}, std::pair{27, "compute capability 7.5 and up"},
        std::pair{42, "mining"}, std::pair{46, "install a newer CUDA toolkit's CUPTI"}));

TEST(CuptiFailure, NamesAStatusThatItDoesNotKnow) {
  EXPECT_EQ(cupti_failure("cuptiDeviceGetChipName", 999), "cuptiDeviceGetChipName gives CUPTI error 999");
}

TEST(ProfilingPermission, IsReadFromTheKernelModulesParameters) {
  EXPECT_EQ(profiling_permission("A: 1\nRmProfilingAdminOnly: 1\nB: 0\n"),
            "only administrators may read counters (RmProfilingAdminOnly in /proc/driver/nvidia/params)");
  EXPECT_EQ(profiling_permission("RmProfilingAdminOnly: 0\n"),
            "every user may read counters (RmProfilingAdminOnly in /proc/driver/nvidia/params)");
  EXPECT_EQ(profiling_permission("Other: 1\n"), "");
}

}  // namespace
}  // namespace hilbench
