// The backward pass of cuDNN's fused attention over the branches of a case.
#pragma once

#include <memory>

#include "kernels/implementation.hpp"

namespace hilbench {

std::unique_ptr<Execution> cudnn_backward(const Case& work);
double cudnn_backward_workspace_bytes(const Case& work);

}  // namespace hilbench
