// Baselines that are separate programs: what a plan needs to know about them.
// harness/external/program.hpp runs them.
#pragma once

#include <string_view>

#include "kernels/implementation.hpp"

namespace hilbench {

// The scripts of this folder.
extern const Implementation kTorchSdpa;
extern const Implementation kTorchContextParallel;
extern const Implementation kTorchWindows;
// The text of one of them by the name of its baseline; it is built into the program. `name` must be one of
// theirs.
std::string_view embedded_script(std::string_view name);

// Any program that a sweep declares.
extern const Implementation kDeclaredExternal;

}  // namespace hilbench
