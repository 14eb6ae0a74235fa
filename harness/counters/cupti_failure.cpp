// What CUPTI's error codes mean for someone who wants counters. Numbers: CUptiResult in cupti_result.h.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "harness/counters/backends.hpp"

namespace hilbench {
namespace {

struct Meaning {
  std::array<int, 2> statuses;  // 0 in place of the second: there is only one
  std::string_view text;
};
constexpr Meaning kMeanings[] = {
    {{8}, "out of memory; leave some of the device's memory free"},
    {{15},
     "CUPTI cannot reach the driver: this driver is too old for this CUPTI; install a newer driver, or "
     "put the CUPTI of the driver's own CUDA version on LD_LIBRARY_PATH"},
    {{16, 17}, "the device has no such metric"},
    {{23, 26},
     "another profiler holds the counting hardware; end Nsight tools, DCGM profiling and other counting "
     "programs on this machine"},
    {{27, 38},
     "this CUPTI does not support the device's architecture: the Range Profiler needs compute "
     "capability 7.5 and up, the Event API less than that, CUDA 12.9 or older and a driver before 580"},
    {{33, 40},
     "this is a virtual GPU and its hypervisor does not allow profiling; ask for it to be enabled there"},
    {{35},
     "counters are restricted to administrators; run as root, in a container with CAP_SYS_ADMIN, or "
     "load NVIDIA's kernel module with NVreg_RestrictProfilingToAdminUsers=0 (see RmProfilingAdminOnly "
     "in /proc/driver/nvidia/params)"},
    {{36}, "CUPTI's Event API and its Range Profiler cannot both be used in one process"},
    {{39}, "a debugger or profiler is attached to this process; run without it"},
    {{41}, "confidential computing is on, which forbids profiling; use a machine without it"},
    {{42}, "CUPTI does not support mining processors"},
    {{43}, "the GPU is split (MIG), which CUPTI does not profile; use a whole GPU"},
    {{44}, "CUPTI does not profile SLI devices; switch SLI off"},
    {{45},
     "CUPTI does not profile this device under WSL; allow it in the Windows driver's developer settings"},
    {{46}, "this CUPTI is older than the GPU; install a newer CUDA toolkit's CUPTI"},
};

std::string_view meaning(int status) {
  for (const Meaning& each : kMeanings)
    if (std::find(each.statuses.begin(), each.statuses.end(), status) != each.statuses.end())
      return each.text;
  return "";
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
