// A sweep and a machine for the tests of runs.
#pragma once

#include <string>

#include "harness/plan/site.hpp"
#include "harness/sweep/sweep.hpp"

namespace hilbench {

inline Sweep parse(const std::string& keys) {
  return parse_sweep("name: run\n" + keys, "run.yaml");
}

inline Site test_site() {
  Site site;
  site.host.cores = 2;
  site.host.available_memory_bytes = std::int64_t{1} << 34;
  return site;
}

}  // namespace hilbench
