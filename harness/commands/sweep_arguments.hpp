// What `run` and `plan` are told alike: a sweep, and what the command line changes in it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/commands/options.hpp"
#include "harness/plan/plan.hpp"
#include "harness/plan/site.hpp"
#include "harness/sweep/sweep.hpp"

namespace hilbench {

struct SweepArguments {
  std::filesystem::path file;
  std::string filter;
  std::vector<std::string> axes;
  std::string device;                        // "", "cpu" or "cuda[:i]"
  std::optional<std::int64_t> memory_bytes;  // to plan with in place of the device's
  std::optional<double> budget_s;            // in place of the sweep's measure.budget_s
  std::optional<double> execution_limit_s;   // cases whose executions are estimated to be longer are skipped
  bool allow_external = false;
};
void add_sweep_options(Options& options, SweepArguments& arguments);

// The sweep as the command line has changed it.
Sweep sweep_of(const SweepArguments& arguments);
// Of a GPU, if --device names one.
std::optional<int> gpu_ordinal(const SweepArguments& arguments);
Plan plan_of(const SweepArguments& arguments, const Sweep& sweep, const Site& site);

}  // namespace hilbench
