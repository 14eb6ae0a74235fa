// The options that `run` and `plan` share: a sweep, and changes to it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/command_line/options.hpp"
#include "harness/plan/plan.hpp"
#include "harness/plan/site.hpp"
#include "harness/sweep/sweep.hpp"

namespace hilbench {

struct SweepArguments {
  std::filesystem::path file;
  std::string claim;  // in the place of `file`: the sweep that answers this claim
  std::string filter;
  std::string part;  // "2/4": every fourth case, from the second on; empty: all
  std::vector<std::string> axes;
  std::string device;                        // "", "cpu" or "cuda[:i]"
  std::optional<std::int64_t> memory_bytes;  // planned with, in place of the device's memory
  std::optional<double> budget_s;            // in place of the sweep's measure.budget_s
  std::optional<std::int64_t> processes;     // in place of the sweep's measure.processes
  std::optional<double> execution_limit_s;   // a case is skipped if one execution is estimated to take longer
  bool allow_external = false;
};
// of_comparison: --budget is the time for one comparison. of_command: the command has a --budget of its own.
enum class Budget { of_comparison, of_command };
void add_sweep_options(Options& options, SweepArguments& arguments, Budget budget = Budget::of_comparison);

// The sweep of a file, otherwise the one of this program with that name; a folder of that name is in nobody's
// way. Throws UsageError.
Sweep load_or_find(const std::filesystem::path& file, const SweepOverrides& overrides);
// The sweep with the changes of the command line.
Sweep sweep_of(const SweepArguments& arguments);
// The number of the GPU, if --device names one.
std::optional<int> gpu_ordinal(const SweepArguments& arguments);
Plan plan_of(const SweepArguments& arguments, const Sweep& sweep, const Site& site);

}  // namespace hilbench
