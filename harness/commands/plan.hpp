// `hilbench plan`.
#pragma once

#include <string>

#include "harness/command_line/sweep_arguments.hpp"
#include "kernels/base/text/error.hpp"

namespace hilbench {

enum class PlanTable { variants, longest };

// Prints what the sweep would measure here, or on a named GPU (named_gpus.hpp); runs nothing.
ExitCode plan_command(const SweepArguments& arguments, PlanTable table, const std::string& gpu = "");

}  // namespace hilbench
