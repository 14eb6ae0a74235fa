// The regression gate on stored results: weaker than a gate of two programs, whose processes alternate.
#pragma once

#include <set>
#include <span>
#include <string>

#include "kernels/case/variant_filter.hpp"
#include "reports/gate/gate.hpp"
#include "reports/gate/unlike_runs.hpp"
#include "reports/view/compared_runs.hpp"
#include "reports/view/input.hpp"

namespace hilbench {

enum class Rivals { shown, judged };

struct StoredGateOptions {
  double threshold = kDefaultThreshold;
  Rivals rivals = Rivals::shown;
  Unlike unlike = Unlike::refused;
  VariantFilter filter = {};         // keeps the variants that it finds
  std::set<std::string> cases = {};  // keeps these cases; empty: all
};

// Judges `candidate` against one or several runs of a baseline. The slowdown of a variant is that of its time
// over the time of its own run's reference. The unit of evidence is the process; with three or more baselines
// the run. A variant whose reference has times in one of the runs only is undecided. `first`: the comparison
// of the first baseline with the candidate, for what differs between them. A reference that itself became
// slower or faster by more than the threshold, and unlike or busy machines are disturbances: they end in
// `inconclusive`. So do variants that the candidate lacks, if no other is slower.
GateResult gate_runs(std::span<const ReportInput> baselines, const ReportInput& candidate,
                     const ComparedRuns& first, const StoredGateOptions& options);

}  // namespace hilbench
