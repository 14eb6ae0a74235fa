// What keeps one stored run from being judged by another: unlike machines, builds and options, and other
// programs.
#pragma once

#include <string>

#include "reports/gate/gate.hpp"
#include "reports/view/compared_runs.hpp"

namespace hilbench {

enum class Unlike { refused, allowed };

// Both add a disturbance for each thing found, and the words for the headline. What differs in machine, build
// or options is a note if it is allowed.
void note_unlike(const ComparedRuns& runs, Unlike allowed, GateResult& result);
// Other programs kept cores busy or used the GPU, or the GPU was throttled. `name`: of the run.
void note_busy(const ReportInput& run, const std::string& name, GateResult& result);

}  // namespace hilbench
