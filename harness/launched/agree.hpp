// How the processes of an MPI launcher start a run: they agree on what to measure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/launched/processes.hpp"
#include "harness/plan/plan.hpp"
#include "harness/plan/site.hpp"
#include "harness/sweep/sweep.hpp"

namespace hilbench {

struct AgreedRun {
  Sweep sweep;
  // Describes the GPU of this process, the number of processes with their own GPU, their hosts, the cores of
  // rank 0, and the least memory that is available to a process.
  Site site;
  Plan plan;
};

// The steps that each process does on its own. Each may throw.
struct Planner {
  std::function<Sweep()> load;
  // `local_rank` numbers the processes of one host.
  std::function<Site(const Sweep& sweep, int local_rank)> inspect;
  std::function<Plan(const Sweep& sweep, const Site& site)> plan;
};

// Sets site.gpus and site.no_further_gpu. `uuids` are those of the GPUs that the processes took, by rank.
void count_own_gpus(const std::vector<std::string>& uuids, Site& site);

// If one process fails, or differs from rank 0 in build, sweep or plan, all processes throw the same Error.
AgreedRun agree(LaunchedProcesses& processes, const Planner& planner);

}  // namespace hilbench
