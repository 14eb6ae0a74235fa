// What the producer warp group does. For sm_90a only.
#pragma once

#include <cstdint>

#include "kernels/cuda/wgmma/tensor_map.hpp"
#include "kernels/cuda/wgmma/wgmma_clear.cuh"
#include "kernels/cuda/wgmma/wgmma_load.cuh"
#include "kernels/cuda/wgmma/wgmma_tiling.cuh"
#include "kernels/cuda/wgmma/wgmma_walk.cuh"

namespace hilbench::cuda {

template <class S>
__device__ __forceinline__ void produce(const typename S::Params& p, const typename S::Maps& maps,
                                        unsigned char* shared, std::uint32_t base) {
  if constexpr (S::kGathered) {
    if constexpr (S::kSources)
      produce_gathered<S>(GatheredWalkedKeys<S>(p), p, maps, shared, base);
    else
      produce_gathered<S>(GatheredKeys<S>(p), p, maps, shared, base);
  } else {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (warp == 0) {
      if (lane != 0) return;
      if constexpr (S::kSources)
        produce_blocks<S>(WalkedKeys<S>(p, maps), shared, base);
      else if constexpr (S::kWindows)
        produce_blocks<S>(ListedKeys<S>(p, maps), shared, base);
      else
        produce_blocks<S>(StridedKeys<S>(p, maps), shared, base);
    } else if (warp == 1) {
      produce_queries<S>(p, maps, shared, base);
    } else {
      clear_beside<S>(p, shared);
    }
  }
}

}  // namespace hilbench::cuda
