// Baselines that are separate programs: what a plan needs to know about them.
// harness/external/program.hpp runs them.
#pragma once

#include <string_view>

#include "kernels/implementation.hpp"

namespace hilbench {

// The scripts of this folder.
extern const Implementation kTorchSdpa;
extern const Implementation kTorchContextParallel;
// The texts of these scripts, which are built into the program.
std::string_view embedded_torch_sdpa();
std::string_view embedded_torch_context_parallel();

// Any program that a sweep declares.
extern const Implementation kDeclaredExternal;

}  // namespace hilbench
