// The instances of dilated_simt of a dtype, and how one is chosen.
#pragma once

#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/simt/simt_instance.hpp"
#include "kernels/cuda/simt/simt_kernel.cuh"
#include "kernels/cuda/simt/simt_tiling.cuh"

namespace hilbench::cuda::simt {

// head_dim, rows and keys of a lane, warps, two buffers, blocks on a multiprocessor
using Small64 = TileShape<64, 8, 4, 2, true, 4>;
using Small128 = TileShape<128, 4, 4, 2, false, 2>;
using Large64 = TileShape<64, 8, 8, 4, true, 2>;
using Large128 = TileShape<128, 8, 4, 8, true, 1>;
using Large256 = TileShape<256, 4, 4, 4, true, 1>;

template <Dtype kDtype, typename Shape>
Instance instance_of() {
  return {dilated_simt<kDtype, Shape>, Shape::kRows, Shape::kThreads, Shape::kSharedBytes};
}

// True if the current device can run the instance from the code that this build has for it. True for every
// instance if there is no device here (a plan for another machine). Creates no context.
inline bool runs_here(const Instance& instance) {
  int device = 0, optin_bytes = 0, major = 0;
  const cudaError_t found = cudaGetDevice(&device);
  if (found == cudaErrorInsufficientDriver || found == cudaErrorNoDevice) return true;
  HILBENCH_CUDA(found);
  HILBENCH_CUDA(cudaDeviceGetAttribute(&optin_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  HILBENCH_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  return instance.shared_bytes <= optin_bytes && instance.shared_bytes <= most_shared_bytes(major * 100);
}

template <Dtype kDtype>
Instance choose_instance(int head_dim) {
  const Instance shapes_64[] = {instance_of<kDtype, Large64>(), instance_of<kDtype, Small64>()};
  const Instance shapes_128[] = {instance_of<kDtype, Large128>(), instance_of<kDtype, Small128>()};
  const Instance large_256 = instance_of<kDtype, Large256>();
  if (head_dim > 128) return runs_here(large_256) ? large_256 : Instance{};
  for (const Instance& instance : head_dim > 64 ? shapes_128 : shapes_64)
    if (runs_here(instance)) return instance;
  return {};
}

}  // namespace hilbench::cuda::simt
