// The regression gate between two builds: fresh processes of both, alternating, on the same tasks.
#pragma once

#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "harness/gate/build.hpp"
#include "harness/plan/plan.hpp"
#include "kernels/case/variant_filter.hpp"
#include "reports/gate/gate.hpp"

namespace hilbench {

// Extra work in the candidate's timed region: this share of the time of each variant that the filter
// finds.
struct Injection {
  VariantFilter filter;
  double share = 0;
};

struct GateOptions {
  double threshold = kDefaultThreshold;
  double budget_s = 180;
  bool automatic = false;     // the threshold is what the machine lets see, by the errors of the first looks
  std::size_t processes = 6;  // of each build and case in the first look, see kLooks
  std::vector<Injection> injections;
  std::filesystem::path folder;  // for baseline/ and candidate/ with their records; empty: not kept
};

using GateProgress = std::function<void(const std::string& line)>;

struct GatedBuilds {
  GateResult result;
  std::exception_ptr unsaved;  // why the records could not be kept; null if they were, or should not be
};
// Measures and judges. Throws UsageError if no case can be compared, and Interrupted after Ctrl-C; then, and
// after any other error, the records so far are in the folder. Throws UsageError if that folder holds results
// that are not a gate's.
GatedBuilds gate_builds(const Sweep& sweep, const Plan& plan, const Site& site, const Build& baseline,
                        const Build& candidate, const GateOptions& options, const GateProgress& progress);

}  // namespace hilbench
