// What a block of threads of dilated_wgmma does. For sm_90a only.
#pragma once

#include <cstdint>

#include "kernels/cuda/wgmma/hopper.cuh"
#include "kernels/cuda/wgmma/tensor_map.hpp"
#include "kernels/cuda/wgmma/wgmma_attend.cuh"
#include "kernels/cuda/wgmma/wgmma_clear.cuh"
#include "kernels/cuda/wgmma/wgmma_produce.cuh"
#include "kernels/cuda/wgmma/wgmma_tiling.cuh"

namespace hilbench::cuda {

// `shared`: S::kSharedBytes of shared memory, at a multiple of 1024 bytes.
template <class S>
__device__ __forceinline__ void run_block(const typename S::Params& p, const typename S::Maps& maps,
                                          unsigned char* shared) {
  const std::uint32_t base = shared_address(shared);
  if (threadIdx.x == 0) {
    init_barriers<S>(base);
    *reinterpret_cast<int2*>(shared + S::kFinishedAt) = int2{};
  }
  __syncthreads();
  if (uniform(threadIdx.x / kGroupThreads) == 0) {
    registers_shrink<S::kProducerRegisters>();
    produce<S>(p, maps, shared, base);
  } else {
    registers_grow<S::kConsumerRegisters>();
    consume<S>(p, maps, shared, base);
  }
  __syncwarp();
  while (clear_window<S>(p, shared)) {
  }
}

}  // namespace hilbench::cuda
