// GPU time from CUPTI's activity records, for executions so short that events around them would
// mostly measure themselves.
#pragma once

#include <functional>
#include <string>

namespace hilbench {

// Why this process cannot use activity records; empty if it can. Loads CUPTI.
const std::string& kernel_times_absence();

// Time from the start of the first to the end of the last kernel, copy or memset of `body`. The very first
// kernel does not count: it only blocks the device until the rest is enqueued (blocking kernel), so that host
// latency between two kernels is not measured. `body` is complete when this returns. Throws EnvironmentError
// if CUPTI fails or has recorded nothing.
double kernel_time_ns(const std::function<void()>& body);

}  // namespace hilbench
