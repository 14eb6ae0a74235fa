// The start of a run by processes that an MPI launcher started: they agree on what they measure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/launched/processes.hpp"
#include "harness/plan/plan.hpp"
#include "harness/sweep/sweep.hpp"
#include "kernels/machine/host.hpp"

namespace hilbench {

struct AgreedRun {
  Sweep sweep;
  // This process's GPU, and how many processes have their own; cores of rank 0, and the least memory that a
  // process finds available.
  Host host;
  Plan plan;
};

// What each process does for itself, and where it may throw.
struct Planner {
  std::function<Sweep()> load;
  // `local_rank`: of this process among those of its host.
  std::function<Host(const Sweep& sweep, int local_rank)> inspect;
  std::function<Plan(const Sweep& sweep, const Host& host)> plan;
};

// The GPU of the process with that `local_rank`, of those that it sees; processes share where there are too
// few. A launcher may show each process one GPU, always number 0.
std::optional<Gpu> gpu_of_process(const std::vector<Gpu>& gpus, int local_rank);

// Sets host.gpus and host.no_further_gpu: `uuids` are those of the GPUs that the processes took, by rank.
void count_own_gpus(const std::vector<std::string>& uuids, Host& host);

// Throws the same Error on all processes: what went wrong on one, or which does not agree with rank 0 in
// build, sweep or plan.
AgreedRun agree(LaunchedProcesses& processes, const Planner& planner);

}  // namespace hilbench
