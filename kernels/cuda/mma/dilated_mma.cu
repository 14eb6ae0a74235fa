// dilated_mma (mma_kernel.cuh) for a shape. No kernel is compiled here.
#include <stdexcept>

#include "kernels/cuda/mma/mma_elements.hpp"
#include "kernels/cuda/mma/mma_instance.cuh"

namespace hilbench::cuda {
namespace {

bool is_bf16(const ForwardShape& shape) {
  if (shape.dtype != Dtype::bf16 && shape.dtype != Dtype::fp16)
    throw std::invalid_argument("dilated_mma: the element must be bf16 or fp16");
  return shape.dtype == Dtype::bf16;
}

}  // namespace

std::int32_t dilated_mma_tile_rows(const ForwardShape& shape) {
  const auto rows = [](auto tile) -> std::int32_t { return decltype(tile)::kRows; };
  return is_bf16(shape) ? visit_head_dim<__nv_bfloat16>(shape, rows) : visit_head_dim<__half>(shape, rows);
}

std::unique_ptr<ForwardKernel> make_dilated_mma(const ForwardShape& shape) {
  return is_bf16(shape) ? make_dilated_mma_bf16(shape) : make_dilated_mma_fp16(shape);
}

std::unique_ptr<WindowKernel> make_windows_mma(const ForwardShape& shape) {
  return is_bf16(shape) ? make_windows_mma_bf16(shape) : make_windows_mma_fp16(shape);
}

}  // namespace hilbench::cuda
