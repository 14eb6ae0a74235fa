// What the CUDA forward kernels have in common as variants: skips, workspace, and the run over all branches.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kernels/cuda/forward.hpp"
#include "kernels/variant.hpp"

namespace hilbench::cuda {

Element element_of(Dtype dtype);
ForwardShape forward_shape(const Case& work);

// Forward attention over all branches of a case by `kernel`. Several branches of low precision meet in an
// fp32 copy of O, which is rounded once at the end.
std::unique_ptr<Execution> forward_execution(const Case& work, std::unique_ptr<ForwardKernel> kernel);
double forward_workspace_bytes(const Case& work, int threads);

// The reason why no forward kernel of this folder computes the case, or nothing.
std::optional<std::string> forward_unsupported(const Case& work, std::string_view kernel);
// Likewise for kernels on matrix units, which have 16-bit elements and the given head dimensions.
std::optional<std::string> matrix_unsupported(const Case& work, std::string_view kernel,
                                              std::span<const int> head_dims);

}  // namespace hilbench::cuda
