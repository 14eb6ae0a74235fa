// The regression gate between two builds: fresh processes of both, alternating, on the same tasks.
#pragma once

#include <filesystem>
#include <functional>
#include <regex>
#include <string>
#include <vector>

#include "harness/gate/build.hpp"
#include "harness/plan/plan.hpp"
#include "reports/gate/gate.hpp"
#include "reports/gate/self_test.hpp"

namespace hilbench {

// Extra work in the candidate's timed region: this share of the time of each variant whose CASE/VARIANT
// contains a match.
struct Injection {
  std::regex pattern;
  double share = 0;
};

struct GateOptions {
  double threshold = kDefaultThreshold;
  double budget_s = 180;
  std::size_t processes = 6;  // of each build and case in the first look; twice as many in the second
  std::vector<Injection> injections;
  std::filesystem::path folder;  // for baseline/ and candidate/ with their records; empty: not kept
};

using GateProgress = std::function<void(const std::string& line)>;

// Pairs of processes of one build, for self_test(). There are fewer than `pairs` of them if the budget is
// spent. `disturbances`: why the machine was not fit, if it was not.
std::vector<EqualPairs> measure_equal_pairs(const Sweep& sweep, const Plan& plan, const Site& site,
                                            const Build& build, std::size_t pairs, const GateOptions& options,
                                            const GateProgress& progress,
                                            std::vector<std::string>& disturbances);

struct MeasuredCandidate {
  std::vector<Record> records;
  double seconds = 0;      // of measuring
  bool cut_short = false;  // the budget was spent before all processes had measured
};

// Records of the candidate alone, for a gate against stored results: twice `options.processes` processes of
// each case, or as many as the budget allows, at least one.
MeasuredCandidate measure_candidate(const Sweep& sweep, const Plan& plan, const Site& site,
                                    const Build& candidate, const GateOptions& options,
                                    const GateProgress& progress);

// Measures and judges. Throws UsageError if no case can be compared, EnvironmentError if the store fails, and
// Interrupted after Ctrl-C; then the records so far are in the folder. This and measure_candidate() throw
// UsageError if that folder holds results that are not a gate's.
GateResult gate_builds(const Sweep& sweep, const Plan& plan, const Site& site, const Build& baseline,
                       const Build& candidate, const GateOptions& options, const GateProgress& progress);

}  // namespace hilbench
