// GPU time from CUPTI's activity records: what is on the device itself, for executions so short that events
// around them would measure mostly themselves.
#pragma once

#include <functional>
#include <string>

namespace hilbench {

// Why activity records cannot be had in this process; empty where they can. Loads CUPTI.
const std::string& kernel_times_absence();

// From the start of the first to the end of the last kernel, copy or memset that `body` causes, but for the
// very first, which is there to keep the device waiting until the rest is enqueued (cuda::hold): else the
// time between two kernels would be the host's. `body` is complete when it returns. Throws EnvironmentError
// where CUPTI fails, or recorded nothing.
double kernel_time_ns(const std::function<void()>& body);

}  // namespace hilbench
