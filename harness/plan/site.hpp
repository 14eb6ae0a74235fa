// The site: what a plan may use of this machine, and of the processes that a launcher started.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/sweep/sweep.hpp"
#include "kernels/machine/gpu.hpp"
#include "kernels/machine/host.hpp"

namespace hilbench {

struct Site {
  Host host;
  std::optional<Gpu> gpu;                             // the one to use
  std::string gpu_absence = "no GPU was looked for";  // why there is none
  bool gpu_is_assumed = false;  // it is not here: for plans alone, and for cases that name `cuda`
  int processes = 1;            // of an MPI program that run the sweep, on this host and others
  // For the ranks of a ring: GPUs here, 1 where they differ from each other; of several `processes`, how many
  // of them have one of their own, from rank 0 on, and why the next has none.
  int gpus = 0;
  std::string no_further_gpu;
  std::optional<std::int64_t> named_memory_bytes;  // to plan with in place of what a case's device has
};

enum class SiteUse { measure, plan_only };

// What the command line and the launcher say of the site.
struct SiteOptions {
  SiteUse use = SiteUse::measure;
  std::optional<int> gpu;                    // its ordinal, if one is named
  std::optional<std::int64_t> memory_bytes;  // Site::named_memory_bytes
  std::optional<int> local_rank;  // of this process among those of its host, if it is one of several
  int processes = 1;              // of the launcher: for `plan_only`
};

// Surveys the host, and its GPUs if some case may want one. A GPU that is named must be there:
// EnvironmentError. A plan alone needs no GPU: if there is none, the memory that is named is taken for one's
// (Site::gpu_is_assumed), and each of several processes is taken to have a GPU of its own.
Site find_site(const Sweep& sweep, const SiteOptions& options);

// The GPU of the process with that `local_rank`, of those that it sees; processes share where there are too
// few. A launcher may show each process one GPU, always number 0.
std::optional<Gpu> gpu_of_process(const std::vector<Gpu>& gpus, int local_rank);

}  // namespace hilbench
