// What CUPTI's statuses mean for someone who wants counters. Numbers of CUptiResult in cupti_result.h.
#include <fmt/format.h>

#include <string_view>

#include "harness/counters/backends.hpp"

namespace hilbench {
namespace {

std::string_view meaning(int status) {
  switch (status) {
    case 8:
      return "out of memory; leave some of the device's memory free";
    case 15:
      return "CUPTI cannot reach the driver: this driver is too old for this CUPTI; install a newer driver, "
             "or put "
             "the CUPTI of the driver's own CUDA version on LD_LIBRARY_PATH";
    case 16:
    case 17:
      return "the device has no such metric";
    case 23:
    case 26:
      return "another profiler holds the counting hardware; end Nsight tools, DCGM profiling and other "
             "counting "
             "programs on this machine";
    case 27:
    case 38:
      return "this CUPTI does not support the device's architecture: the Range Profiler wants compute "
             "capability 7.5 "
             "and up, the Event API less than that, CUDA 12.9 or older and a driver before 580";
    case 33:
    case 40:
      return "this is a virtual GPU and its hypervisor does not allow profiling; ask for it to be enabled "
             "there";
    case 35:
      return "counters are restricted to administrators; run as root, in a container with CAP_SYS_ADMIN, or "
             "load "
             "NVIDIA's kernel module with NVreg_RestrictProfilingToAdminUsers=0 (see RmProfilingAdminOnly in "
             "/proc/driver/nvidia/params)";
    case 36:
      return "CUPTI's Event API and its Range Profiler cannot both be used in one process";
    case 39:
      return "a debugger or profiler is attached to this process; run without it";
    case 41:
      return "confidential computing is on, which forbids profiling; use a machine without it";
    case 42:
      return "CUPTI does not support mining processors";
    case 43:
      return "the GPU is split (MIG), which CUPTI does not profile; use a whole GPU";
    case 44:
      return "CUPTI does not profile SLI devices; switch SLI off";
    case 45:
      return "CUPTI does not profile this device under WSL; allow it in the Windows driver's developer "
             "settings";
    case 46:
      return "this CUPTI is older than the GPU; install a newer CUDA toolkit's CUPTI";
    default:
      return "";
  }
}

}  // namespace

std::string cupti_failure(std::string_view call, int status) {
  const std::string_view why = meaning(status);
  if (why.empty()) return fmt::format("{} gives CUPTI error {}", call, status);
  return fmt::format("{} (CUPTI error {} of {})", why, status, call);
}

std::string profiling_permission(const std::string& params) {
  constexpr std::string_view kKey = "RmProfilingAdminOnly: ";
  const std::size_t at = params.find(kKey);
  if (at == std::string::npos) return "";
  const bool admins = params.compare(at + kKey.size(), 1, "0") != 0;
  return fmt::format("{} may read counters (RmProfilingAdminOnly in /proc/driver/nvidia/params)",
                     admins ? "only administrators" : "every user");
}

}  // namespace hilbench
