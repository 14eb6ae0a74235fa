// The site: the part of this machine, and of the processes that a launcher started, that a plan may use.
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
  std::optional<Gpu> gpu;                             // the GPU to use
  std::string gpu_absence = "no GPU was looked for";  // why there is no GPU
  bool gpu_is_assumed = false;  // it is not in this machine: only for plans, and for cases with device `cuda`
  int processes = 1;            // of an MPI program that run the sweep together, on one host or several
  std::vector<int> hosts;  // [processes]: the first rank on the host of each; empty if there is one process
  // For the ranks of a ring. One process: the number of GPUs here, or 1 if they are of different kinds.
  // Several `processes`: how many of them, counted from rank 0, have a GPU of their own, and why the
  // next has none.
  int gpus = 0;
  std::string no_further_gpu;
  // Pairs of the GPUs of one process that cannot access each other's memory.
  std::vector<std::pair<int, int>> unlinked;
  std::optional<std::int64_t> named_memory_bytes;  // planned with, in place of the memory of a case's device
};

enum class SiteUse { measure, plan_only };

// What the command line and the launcher say about the site.
struct SiteOptions {
  SiteUse use = SiteUse::measure;
  std::optional<int> gpu;                    // the number of a GPU, if one is named
  std::optional<std::int64_t> memory_bytes;  // Site::named_memory_bytes
  std::optional<int> local_rank;             // number of this process on its host, if it is one of several
  int processes = 1;                         // of the launcher; read for `plan_only`
  std::optional<Gpu> planned_gpu;            // for `plan_only`: in place of the GPUs that are here
};

// Surveys the host, and its GPUs if some case may use one. Throws EnvironmentError if a GPU that is named is
// not there. A plan without a run needs no GPU: if there is none but memory is named, a GPU with that memory
// is assumed (Site::gpu_is_assumed), and each of several processes is assumed to have its own GPU.
Site find_site(const Sweep& sweep, const SiteOptions& options);

// The GPU, of those that it sees, that the process with this `local_rank` uses. Processes share GPUs if there
// are too few. A launcher may show each process a single GPU, which is then always number 0.
std::optional<Gpu> gpu_of_process(const std::vector<Gpu>& gpus, int local_rank);

}  // namespace hilbench
