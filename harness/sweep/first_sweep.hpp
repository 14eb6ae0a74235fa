// A first sweep for a machine, with a comment on every key: what `hilbench init` writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hilbench {

// What the sweep is fitted to.
struct FirstSweepMachine {
  std::string device;            // "AMD EPYC 9654, 2 cores", for a comment
  std::int64_t cache_bytes = 0;  // of its largest cache; 0: unknown
  double flops_per_s = 0;        // nominal, in `dtype`
  std::string dtype = "fp32";
  std::vector<std::string> baselines;  // that run here
};

struct FirstLengths {
  std::int64_t inside = 0;  // K and V fit half the cache
  std::int64_t beyond = 0;  // they take four times the cache, or as long as an execution may
};
FirstLengths first_lengths(const FirstSweepMachine& machine);

// `name`: of the sweep, which names its results.
std::string first_sweep(const std::string& name, const FirstSweepMachine& machine);

}  // namespace hilbench
