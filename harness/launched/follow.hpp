// The part of every rank but 0 in a run by launched processes: its process is a rank of rings.
#pragma once

#include "harness/launched/agree.hpp"
#include "harness/launched/processes.hpp"

namespace hilbench {

// Does what rank 0 says until the run ends. Gives the exit status.
int follow(LaunchedProcesses& processes, const AgreedRun& run);

}  // namespace hilbench
