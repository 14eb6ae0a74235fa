// `hilbench list counters`.
#pragma once

#include <string>

#include "harness/commands/list.hpp"

namespace hilbench {

// The counter sets, each with its events and ratios. `here`: those that this machine may have, then how many
// more there are.
std::string list_counters(Shown shown);

}  // namespace hilbench
