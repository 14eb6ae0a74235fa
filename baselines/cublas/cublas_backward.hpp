// The backward pass of unfused attention over the branches of a case.
#pragma once

#include <memory>

#include "kernels/implementation.hpp"

namespace hilbench {

std::unique_ptr<Execution> cublas_backward(const Case& work);
double cublas_backward_workspace_bytes(const Case& work);

}  // namespace hilbench
