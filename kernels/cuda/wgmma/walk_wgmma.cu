// dilated_wgmma for a rank of a ring, in one launch: each tile of queries walks the keys of its own shard and
// then those of the shards that arrive from other ranks, while O and the state of its softmax stay in
// registers. The warp that loads keys waits for each chunk of a shard to arrive (Flux, arXiv 2406.06858,
// section 3, does so for a product of matrices).
//
// A block never waits for another block, only for copies, and whoever launches this enqueues the copies
// before it. So it does not matter how many blocks run at the same time.
#include <cuda_runtime.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/shared/walk_kernel.hpp"
#include "kernels/cuda/wgmma/hopper.cuh"
#include "kernels/cuda/wgmma/tensor_map.hpp"
#include "kernels/cuda/wgmma/wgmma_block.cuh"
#include "kernels/cuda/wgmma/wgmma_tiling.cuh"

namespace hilbench::cuda {
namespace {

template <class S>
__global__ void __launch_bounds__(S::kThreads, 1)
    walk_wgmma(const __grid_constant__ WalkParams p, const __grid_constant__ WalkMaps maps) {
  extern __shared__ __align__(1024) unsigned char shared[];
  run_block<S>(p, maps, shared);
}

template <class S>
void launch_instance(const WalkParams& params, const WalkMaps& maps, int blocks, cudaStream_t stream) {
  walk_wgmma<S><<<blocks, S::kThreads, S::kSharedBytes, stream>>>(params, maps);
}

struct Instance {
  void (*launch)(const WalkParams&, const WalkMaps&, int, cudaStream_t);
  const void* function;
  int shared_bytes;
  BoxRows boxes;
};

template <class S>
Instance instance_of() {
  static_assert(S::kKeys == kWalkKeys);
  return {
      launch_instance<S>, reinterpret_cast<const void*>(&walk_wgmma<S>), S::kSharedBytes, {64, S::kKeys, 16}};
}

template <typename T, int kDim>
Instance choose(bool causal, bool gathered) {
  if (causal)
    return gathered ? instance_of<WalkShape<T, kDim, true, true>>()
                    : instance_of<WalkShape<T, kDim, true, false>>();
  return gathered ? instance_of<WalkShape<T, kDim, false, true>>()
                  : instance_of<WalkShape<T, kDim, false, false>>();
}

Instance choose(const ForwardShape& shape, bool gathered) {
  if (shape.head_dim != 64 && shape.head_dim != 128)
    throw std::invalid_argument("dilated_wgmma takes head_dim 64 and 128");
  const bool wide = shape.head_dim == 128;
  if (shape.dtype == Dtype::bf16)
    return wide ? choose<__nv_bfloat16, 128>(shape.causal, gathered)
                : choose<__nv_bfloat16, 64>(shape.causal, gathered);
  if (shape.dtype == Dtype::fp16)
    return wide ? choose<__half, 128>(shape.causal, gathered) : choose<__half, 64>(shape.causal, gathered);
  throw std::invalid_argument("dilated_wgmma takes bf16 and fp16");
}

class WalkWgmma final : public WalkKernel {
 public:
  explicit WalkWgmma(const ForwardShape& shape)
      : shape_(shape), strided_(choose(shape, false)), gathered_(choose(shape, true)) {
    int device = 0;
    HILBENCH_CUDA(cudaGetDevice(&device));
    HILBENCH_CUDA(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device));
    for (const Instance& instance : {strided_, gathered_})
      HILBENCH_CUDA(cudaFuncSetAttribute(instance.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         instance.shared_bytes));
  }

  void launch(const WalkForwardParams& params, cudaStream_t stream) override {
    if (params.tile_count == 0) return;
    const Instance& instance = params.key_slots != nullptr ? gathered_ : strided_;
    WalkParams kernel{};
    kernel.q = params.q;
    kernel.k = params.k;
    kernel.v = params.v;
    kernel.o = params.o;
    kernel.lse = params.lse;
    kernel.q_slots = params.q_slots;
    kernel.key_slots = params.key_slots;
    kernel.key_positions = params.key_positions;
    kernel.tiles = params.tiles;
    kernel.counters = params.counters;
    kernel.tile_count = params.tile_count;
    kernel.sequence = shape_.sequence;
    kernel.kv_rows = params.kv_rows;
    kernel.batch = shape_.batch;
    kernel.heads = shape_.heads;
    kernel.kv_heads = shape_.kv_heads;
    kernel.query_step = params.query_step;
    kernel.key_step = params.key_step;
    kernel.key_slot_step = params.key_slot_step;
    kernel.o_fp32 = params.o_fp32;
    kernel.scale = params.scale;
    kernel.walk = params.walk;
    const int blocks =
        std::clamp(multiprocessors_ - params.spared_multiprocessors, 1, static_cast<int>(params.tile_count));
    instance.launch(kernel, maps_.of(shape_, params, instance.boxes), blocks, stream);
    HILBENCH_CUDA(cudaGetLastError());
  }

 private:
  ForwardShape shape_;
  Instance strided_, gathered_;
  int multiprocessors_ = 0;
  WalkMapCache maps_;
};

}  // namespace

std::unique_ptr<WalkKernel> make_walk_wgmma(const ForwardShape& shape) {
  return std::make_unique<WalkWgmma>(shape);
}

}  // namespace hilbench::cuda
