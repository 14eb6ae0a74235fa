// Runs a CUDA kernel over windows on a grid. No CUDA header.
#pragma once

#include <memory>

#include "kernels/cuda/shared/forward_shape.hpp"
#include "kernels/implementation.hpp"

namespace hilbench::cuda {

class WindowKernel;

// Defined by the .cu of each kernel.
using MakeWindowKernel = std::unique_ptr<WindowKernel> (*)(const ForwardShape&);

// Attention of the windows of a case by the kernel that `make` makes.
std::unique_ptr<Execution> window_execution(const Case& work, const KernelChoice& choice,
                                            MakeWindowKernel make);

}  // namespace hilbench::cuda
