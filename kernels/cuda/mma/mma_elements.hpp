// The instances of dilated_mma for one element. Each function is in a file of its own, so that several
// processors compile the kernels at the same time. They throw std::invalid_argument if no instance has the
// head dimension.
#pragma once

#include <memory>

#include "kernels/cuda/shared/forward.hpp"
#include "kernels/cuda/shared/window_kernel.hpp"

namespace hilbench::cuda {

std::unique_ptr<ForwardKernel> make_dilated_mma_bf16(const ForwardShape& shape);
std::unique_ptr<ForwardKernel> make_dilated_mma_fp16(const ForwardShape& shape);
std::unique_ptr<WindowKernel> make_windows_mma_bf16(const ForwardShape& shape);
std::unique_ptr<WindowKernel> make_windows_mma_fp16(const ForwardShape& shape);

}  // namespace hilbench::cuda
