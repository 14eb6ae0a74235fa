// The instances of dilated_mma for windows on a grid of bf16.
#include "kernels/cuda/mma/mma_elements.hpp"
#include "kernels/cuda/mma/mma_launch.cuh"

namespace hilbench::cuda {

std::unique_ptr<WindowKernel> make_windows_mma_bf16(const ForwardShape& shape) {
  return windows_mma_of<__nv_bfloat16>(shape);
}

}  // namespace hilbench::cuda
