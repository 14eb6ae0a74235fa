// `hilbench run --profile VARIANT`: one execution for a profiler.
#pragma once

#include <string>

#include "harness/plan/plan.hpp"
#include "harness/plan/site.hpp"
#include "harness/sweep/sweep.hpp"

namespace hilbench {

// Runs `variant_id` in this process, in the first comparison of the plan that can run it: once to warm
// up, and once between the profiler's start and stop marks (on a GPU cudaProfilerStart and
// cudaProfilerStop). Nothing is verified or stored. Returns the case's id. Throws UsageError if no
// comparison can run the variant.
std::string profile_variant(const Sweep& sweep, const Plan& plan, const Site& site,
                            const std::string& variant_id);

}  // namespace hilbench
