// Runs a CUDA backward kernel over all branches of a case. No CUDA header.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/cuda/shared/forward_shape.hpp"
#include "kernels/implementation.hpp"

namespace hilbench::cuda {

class GradientKernel;

// Defined by the .cu of a kernel.
using MakeGradientKernel = std::unique_ptr<GradientKernel> (*)(const ForwardShape&);

// The gradients of all branches of a case by the kernel that `make` makes, in tiles of `tile_rows` queries or
// keys. Several branches of 16-bit elements add to fp32 sums, which are rounded once at the end.
std::unique_ptr<Execution> gradient_execution(const Case& work, const KernelChoice& choice,
                                              MakeGradientKernel make, std::int32_t tile_rows);
double gradient_workspace_bytes(const Case& work);

}  // namespace hilbench::cuda
