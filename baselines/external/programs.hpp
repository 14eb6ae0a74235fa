// Baselines that run as programs of their own: what the plan knows of them. harness/external.hpp runs them.
#pragma once

#include "kernels/implementation.hpp"

namespace hilbench {

// Scripts of this folder, which the program brings along.
extern const Implementation kTorchSdpa;
extern const Implementation kTorchContextParallel;

// Stands for every program that a sweep declares.
extern const Implementation kDeclaredExternal;

}  // namespace hilbench
