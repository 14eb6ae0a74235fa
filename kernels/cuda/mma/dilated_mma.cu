// dilated_mma (mma_kernel.cuh) for a shape. No kernel is compiled here.
#include <stdexcept>

#include "kernels/cuda/mma/mma_elements.hpp"

namespace hilbench::cuda {
namespace {

bool is_bf16(const ForwardShape& shape) {
  if (shape.dtype != Dtype::bf16 && shape.dtype != Dtype::fp16)
    throw std::invalid_argument("dilated_mma: the element must be bf16 or fp16");
  return shape.dtype == Dtype::bf16;
}

}  // namespace

std::unique_ptr<ForwardKernel> make_dilated_mma(const ForwardShape& shape) {
  return is_bf16(shape) ? make_dilated_mma_bf16(shape) : make_dilated_mma_fp16(shape);
}

std::unique_ptr<WindowKernel> make_windows_mma(const ForwardShape& shape) {
  return is_bf16(shape) ? make_windows_mma_bf16(shape) : make_windows_mma_fp16(shape);
}

}  // namespace hilbench::cuda
