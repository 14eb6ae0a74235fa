// `hilbench list`: what this build knows.
#pragma once

#include <string>
#include <string_view>

namespace hilbench {

// One line for each name, with the reason if it is unavailable on this machine.
// Throws UsageError for an unknown topic.
std::string list_text(std::string_view what);

}  // namespace hilbench
