// Runs a CUDA kernel whose tiles walk the keys of several sources. No CUDA header.
#pragma once

#include <memory>

#include "kernels/cuda/shared/forward_shape.hpp"
#include "kernels/implementation.hpp"

namespace hilbench::cuda {

class WalkKernel;
using MakeWalkKernel = std::unique_ptr<WalkKernel> (*)(const ForwardShape&);

std::unique_ptr<WalkExecution> walk_execution(const Case& work, const KernelChoice& choice,
                                              const WalkLimits& limits, MakeWalkKernel make);

}  // namespace hilbench::cuda
