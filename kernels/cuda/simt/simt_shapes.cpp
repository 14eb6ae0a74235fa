#include "kernels/cuda/simt/simt_shapes.hpp"

#include <cuda_runtime.h>

#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/shared/forward_shape.hpp"
#include "kernels/cuda/simt/simt_gradient_shapes.hpp"

namespace hilbench::cuda {

bool simt::runs_here(int shared_bytes) {
  int device = 0, optin_bytes = 0, major = 0;
  const cudaError_t found = cudaGetDevice(&device);
  if (found == cudaErrorInsufficientDriver || found == cudaErrorNoDevice) return true;
  HILBENCH_CUDA(found);
  HILBENCH_CUDA(cudaDeviceGetAttribute(&optin_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  HILBENCH_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  return shared_bytes <= optin_bytes && shared_bytes <= most_shared_bytes(major * 100);
}

// 0 if the current device has no instance for the shape.
std::int32_t dilated_simt_tile_rows(const ForwardShape& shape) {
  return simt::visit_shape(shape.head_dim, std::int32_t{0},
                           [](auto tile) -> std::int32_t { return decltype(tile)::kRows; });
}
std::int32_t dilated_simt_gradient_rows(const ForwardShape& shape) {
  return simt::visit_gradient_shape(shape.head_dim, std::int32_t{0},
                                    [](auto tile) -> std::int32_t { return decltype(tile)::kRows; });
}

}  // namespace hilbench::cuda
