// A build of hilbench that a gate drives: its workers measure tasks that this program makes.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/sweep/settings.hpp"
#include "kernels/base/process/run_in_child.hpp"

namespace hilbench {

struct Build {
  std::filesystem::path program;
  std::string version;         // "hilbench 0.1.0 (commit abc1234)"
  nlohmann::json environment;  // `environment.build` of its records
  // Versions of kernels of the user, which its workers measure in the place of those of the sweep. If there
  // are some, they alone are judged, and `version` names them.
  Externals kernels = {};
};

// Asks the program who it is. Throws UsageError if it is no hilbench, or one whose workers do not understand
// the tasks of this program.
Build inspect_build(const std::filesystem::path& program);

// Runs `look`, which asks a program that is not known, in a child: it may crash, hang or print anything. What
// it started ends with it. Throws Interrupted after Ctrl-C.
ProbeFinding ask_in_child(const std::function<ProbeFinding()>& look, double within_s);

// What a build answers, as one line of JSON.
std::string describe_this_build();

}  // namespace hilbench
