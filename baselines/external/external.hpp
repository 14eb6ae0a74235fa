// Baselines that run as programs of their own: what the plan knows of them. harness/external.hpp runs them.
#pragma once

#include "kernels/variant.hpp"

namespace hilbench {

extern const Variant kTorchSdpa;  // baselines/external/torch_sdpa.py, which the program brings along

// Stands for every program that a sweep declares.
extern const Variant kDeclaredExternal;

}  // namespace hilbench
