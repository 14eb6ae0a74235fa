// Rank 0's part of a run by launched processes: it leads as a supervisor does.
#pragma once

#include "harness/launched/processes.hpp"
#include "harness/plan/plan.hpp"
#include "harness/run/supervisor.hpp"

namespace hilbench {

// Runs tasks in this process, with the others as ranks of rings. Throws Interrupted where the
// launcher ends all, as it does soon after it lost one.
TaskRunner in_processes(LaunchedProcesses& processes);
// Throws EnvironmentError if the processes cannot go on after the comparison, which is committed.
void expect_unbroken(const LaunchedProcesses& processes, const Comparison& comparison);

// The last word to the other processes.
void end_followers(LaunchedProcesses& processes, int exit_status);

}  // namespace hilbench
