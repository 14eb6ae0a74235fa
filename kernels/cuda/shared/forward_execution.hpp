// What the CUDA forward kernels have in common when they run: shape, workspace, and the run over all
// branches.
#pragma once

#include <memory>

#include "kernels/cuda/shared/forward.hpp"
#include "kernels/implementation.hpp"

namespace hilbench::cuda {

ForwardShape forward_shape(const Case& work);

// Forward attention over all branches of a case by `kernel`. Several branches of low precision meet in an
// fp32 copy of O, which is rounded once at the end.
std::unique_ptr<Execution> forward_execution(const Case& work, const Variant& variant,
                                             std::unique_ptr<ForwardKernel> kernel);
double forward_workspace_bytes(const Case& work);

}  // namespace hilbench::cuda
