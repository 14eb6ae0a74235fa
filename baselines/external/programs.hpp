// Baselines that run as programs of their own: what the plan knows of them. harness/external/program.hpp runs
// them.
#pragma once

#include <string_view>

#include "kernels/implementation.hpp"

namespace hilbench {

// Scripts of this folder, which the program brings along.
extern const Implementation kTorchSdpa;
extern const Implementation kTorchContextParallel;
// Their texts, built into the program.
std::string_view embedded_torch_sdpa();
std::string_view embedded_torch_context_parallel();

// Stands for every program that a sweep declares.
extern const Implementation kDeclaredExternal;

}  // namespace hilbench
