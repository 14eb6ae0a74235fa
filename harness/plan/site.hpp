// The host as a sweep is to run on it.
#pragma once

#include <cstdint>
#include <optional>

#include "harness/sweep/sweep.hpp"
#include "kernels/machine/host.hpp"

namespace hilbench {

// The host, and its GPU where some case may want one. A GPU that is named by `ordinal` must be there:
// EnvironmentError.
Host host_for(const Sweep& sweep, const std::optional<int>& ordinal);

// The same for one of several processes, the one of its host with that `local_rank`.
Host host_for_process(const Sweep& sweep, int local_rank);

// The host as the plan is to see it: with the memory that is named.
Host planned_host(Host host, const std::optional<std::int64_t>& memory_bytes);

// A plan alone needs no GPU: where there is none, the memory that is named is taken for one's
// (Host::gpu_is_assumed).
Host host_to_plan_for(const Sweep& sweep, const std::optional<int>& ordinal,
                      const std::optional<std::int64_t>& memory_bytes);

}  // namespace hilbench
