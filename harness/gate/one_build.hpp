// Measurements of one build: against itself, and alone for a gate against stored results.
#pragma once

#include <string>
#include <vector>

#include "harness/gate/gate_builds.hpp"
#include "reports/gate/self_test.hpp"

namespace hilbench {

struct EqualMeasurement {
  std::vector<EqualPairs> pairs;          // of variants with six pairs or more, for self_test()
  std::vector<std::string> failures;      // variants that could not be measured, and why
  std::vector<std::string> disturbances;  // why the machine was not fit, if it was not
};
// Pairs of processes of one build, up to `pairs` of each case; fewer if the budget is spent. Those of
// variants with six or more are written into the folder, as self-test.csv, also if it is stopped.
EqualMeasurement measure_equal_pairs(const Sweep& sweep, const Plan& plan, const Site& site,
                                     const Build& build, std::size_t pairs, const GateOptions& options,
                                     const GateProgress& progress);

struct MeasuredCandidate {
  std::vector<Record> records;
  double seconds = 0;      // of measuring
  bool cut_short = false;  // the budget was spent before all processes had measured
};

// Records of the candidate alone, for a gate against stored results: twice `options.processes` processes of
// each case, or as many as the budget allows, at least one. If it is stopped, the records so far are in the
// folder. Throws UsageError if that folder holds results that are not a gate's.
MeasuredCandidate measure_candidate(const Sweep& sweep, const Plan& plan, const Site& site,
                                    const Build& candidate, const GateOptions& options,
                                    const GateProgress& progress);

}  // namespace hilbench
