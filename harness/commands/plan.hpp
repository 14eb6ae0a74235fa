// `hilbench plan`.
#pragma once

#include "harness/command_line/sweep_arguments.hpp"
#include "kernels/base/text/error.hpp"

namespace hilbench {

enum class PlanTable { variants, longest };

// Prints what the sweep would measure here; runs nothing.
ExitCode plan_command(const SweepArguments& arguments, PlanTable table);

}  // namespace hilbench
