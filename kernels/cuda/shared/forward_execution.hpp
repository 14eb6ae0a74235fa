// Runs a CUDA forward kernel over all branches of a case. No CUDA header.
#pragma once

#include <memory>

#include "kernels/cuda/shared/forward_shape.hpp"
#include "kernels/implementation.hpp"

namespace hilbench::cuda {

class ForwardKernel;

// Defined by the .cu of each kernel.
using MakeForwardKernel = std::unique_ptr<ForwardKernel> (*)(const ForwardShape&);

// Forward attention over all branches of a case by the kernel that `make` makes. If several branches of
// 16-bit elements merge, they merge in an fp32 copy of O, which is rounded once at the end.
std::unique_ptr<Execution> forward_execution(const Case& work, const KernelChoice& choice,
                                             MakeForwardKernel make);
double forward_workspace_bytes(const Case& work);

}  // namespace hilbench::cuda
