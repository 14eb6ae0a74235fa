// `hilbench list`: what this build knows.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hilbench {

// orders, traversals, kernels, baselines, counters, devices, claims.
std::span<const std::string_view> list_topics();

// One line for each name, with the reason where something is unavailable on this machine.
// Throws UsageError for an unknown topic.
std::string list_text(std::string_view what);

}  // namespace hilbench
