// `hilbench run`.
#pragma once

#include <filesystem>
#include <string>

#include "harness/command_line/sweep_arguments.hpp"
#include "kernels/base/text/error.hpp"

namespace hilbench {

struct RunArguments {
  SweepArguments sweep;
  std::filesystem::path folder;  // empty: results/<sweep name>
  bool fresh = false;
  bool mix_builds = false;
  bool append_process = false;
  bool retry_failed = false;
  bool dry_run = false;
  bool require_measured = false;
  std::filesystem::path dump;
  std::string profile;  // the variant to run once for a profiler; empty: none
  std::string command;  // as typed
};

// Measures the sweep, as a single process or as one of the processes that an MPI launcher started.
ExitCode run_command(const RunArguments& arguments);

}  // namespace hilbench
