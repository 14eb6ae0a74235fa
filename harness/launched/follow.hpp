// The part of all ranks but 0 in a launched run: each is a rank of rings.
#pragma once

#include "harness/launched/agree.hpp"
#include "harness/launched/processes.hpp"

namespace hilbench {

// Obeys rank 0 until the run ends. Returns the exit status.
int follow(LaunchedProcesses& processes, const AgreedRun& run);

}  // namespace hilbench
