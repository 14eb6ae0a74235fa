// A run by processes that an MPI launcher started: they agree on the work, then rank 0 leads as a supervisor
// does, and the others are ranks of rings.
#pragma once

#include <functional>

#include "harness/host.hpp"
#include "harness/plan.hpp"
#include "harness/processes.hpp"
#include "harness/supervisor.hpp"
#include "harness/sweep.hpp"

namespace hilbench {

struct AgreedWork {
  Sweep sweep;
  Host host;  // this process's own GPU; cores of rank 0, and the least memory that a process finds available
  Plan plan;
};

// What each process does for itself, and where it may throw.
struct Planner {
  std::function<Sweep()> load;
  // `on_this_host`: how many processes of a lower rank are on this host.
  std::function<Host(const Sweep& sweep, int on_this_host)> inspect;
  std::function<Plan(const Sweep& sweep, const Host& host)> plan;
};

// Throws the same Error on all processes: what went wrong on one, or which does not agree with rank 0 in
// build, sweep or plan.
AgreedWork agree(Processes& processes, const Planner& planner);

// Of rank 0: runs tasks in this process, with the others as ranks of rings. Throws Interrupted where the
// launcher ends all, as it does soon after it lost one.
TaskRunner in_processes(Processes& processes);

// Of the others: does what rank 0 says until the run ends. Gives the exit status.
int follow(Processes& processes, const AgreedWork& work);
// Rank 0's last word to them.
void end_followers(Processes& processes, int exit_status);

}  // namespace hilbench
