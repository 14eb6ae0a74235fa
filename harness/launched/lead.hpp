// The part of rank 0 in a launched run: it leads the other processes.
#pragma once

#include "harness/launched/processes.hpp"
#include "harness/plan/plan.hpp"
#include "harness/run/task_runner.hpp"

namespace hilbench {

// Runs tasks in this process; the other processes are ranks of rings. Throws Interrupted if the launcher ends
// all processes, as it does soon after it lost one.
TaskRunner in_processes(LaunchedProcesses& processes);
// Throws EnvironmentError if the processes are broken and cannot measure another comparison. `comparison` is
// committed already.
void expect_unbroken(const LaunchedProcesses& processes, const Comparison& comparison);

// Tells the other processes to end with this exit status. Throws EnvironmentError if one does not answer
// within the timeout: MPI would wait for it without end.
void end_followers(LaunchedProcesses& processes, int exit_status);

}  // namespace hilbench
