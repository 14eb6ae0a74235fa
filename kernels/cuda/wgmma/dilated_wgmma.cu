// Dilated attention, forward, for Hopper (sm_90a): O = softmax(scale Q K^T) V over the selected rows of each
// segment (LongNet, arXiv 2307.02486, Eqs. 3-8), exact online softmax, fp32 accumulation, bf16 or fp16
// operands, head_dim 64 and 128.
//
// One persistent block per multiprocessor works through the list of tiles, in the manner of
// FlashAttention-3 (arXiv 2407.08608, sections 3.1 and 3.2). A producer warp group fetches rows of Q and
// blocks of K and V by TMA if their rows are strided, else by 16-byte copies of single rows into the same
// 128-byte swizzle. Each consumer warp group owns 64 query rows: it computes the scores of the next block and
// P V of this one at the same time, keeps P in registers, and takes turns with the other groups at the tensor
// cores. O leaves through the rows of Q in shared memory by TMA, while the next tile is computed.
//
// Departures from the paper: rows are read through tables, results merge with earlier branches,
// rows that no tile writes are cleared, and the exponentials have a scale that seldom changes
// instead of a running maximum.
#include <cuda_runtime.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/shared/forward.hpp"
#include "kernels/cuda/wgmma/hopper.cuh"
#include "kernels/cuda/wgmma/tensor_map.hpp"
#include "kernels/cuda/wgmma/wgmma_block.cuh"
#include "kernels/cuda/wgmma/wgmma_tiling.cuh"

namespace hilbench::cuda {

namespace {

template <class S>
__global__ void __launch_bounds__(S::kThreads, 1)
    dilated_wgmma(const __grid_constant__ KernelParams p, const __grid_constant__ StridedMaps maps) {
  extern __shared__ __align__(1024) unsigned char shared[];
  run_block<S>(p, maps, shared);
}

template <class S>
void launch_instance(const KernelParams& params, const StridedMaps& maps, int blocks, cudaStream_t stream) {
  dilated_wgmma<S><<<blocks, S::kThreads, S::kSharedBytes, stream>>>(params, maps);
}

// How one shape is launched.
struct Instance {
  void (*launch)(const KernelParams&, const StridedMaps&, int, cudaStream_t);
  const void* function;
  int shared_bytes;
  BoxRows boxes;
};

template <class S>
Instance instance_of() {
  return {launch_instance<S>,
          reinterpret_cast<const void*>(&dilated_wgmma<S>),
          S::kSharedBytes,
          {64, S::kKeys, 16}};
}

template <typename T, int kDim>
Instance choose(bool causal, bool gathered) {
  if (causal)
    return gathered ? instance_of<Shape<T, kDim, true, true>>() : instance_of<Shape<T, kDim, true, false>>();
  return gathered ? instance_of<Shape<T, kDim, false, true>>() : instance_of<Shape<T, kDim, false, false>>();
}

Instance choose(const ForwardShape& shape, bool gathered) {
  if (shape.head_dim != 64 && shape.head_dim != 128) {
    throw std::invalid_argument("dilated_wgmma takes head_dim 64 and 128");
  }
  const bool wide = shape.head_dim == 128;
  switch (shape.dtype) {
    case Dtype::bf16:
      return wide ? choose<__nv_bfloat16, 128>(shape.causal, gathered)
                  : choose<__nv_bfloat16, 64>(shape.causal, gathered);
    case Dtype::fp16:
      return wide ? choose<__half, 128>(shape.causal, gathered) : choose<__half, 64>(shape.causal, gathered);
    default:
      throw std::invalid_argument("dilated_wgmma takes bf16 and fp16");
  }
}

class DilatedWgmma : public ForwardKernel {
 public:
  explicit DilatedWgmma(const ForwardShape& shape)
      : shape_(shape), strided_(choose(shape, false)), gathered_(choose(shape, true)) {
    int device = 0;
    HILBENCH_CUDA(cudaGetDevice(&device));
    HILBENCH_CUDA(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device));
    for (const Instance& instance : {strided_, gathered_}) {
      HILBENCH_CUDA(cudaFuncSetAttribute(instance.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         instance.shared_bytes));
    }
  }

  bool clears() const override { return true; }

  void launch(const ForwardParams& params, cudaStream_t stream) override {
    if (params.tile_count == 0 && params.fill == nullptr) return;
    const bool clears_apart = params.fill != nullptr && params.any_merge != 0;
    if (clears_apart) clear_uncovered(shape_, params, stream);
    const bool gathered = params.key_slots != nullptr;
    const Instance& instance = gathered ? gathered_ : strided_;
    const KernelParams kernel = {params.q,         params.k,
                                 params.v,         params.o,
                                 params.lse,       params.q_slots,
                                 params.key_slots, params.key_positions,
                                 params.tiles,     clears_apart ? nullptr : params.fill,
                                 params.counters,  params.tile_count,
                                 shape_.sequence,  params.kv_rows,
                                 shape_.batch,     shape_.heads,
                                 shape_.kv_heads,  params.query_step,
                                 params.key_step,  params.key_slot_step,
                                 params.o_fp32,    params.scale};
    const StridedMaps& maps = maps_.of(shape_, params, instance.boxes);
    const int blocks =
        kernel.fill != nullptr ? multiprocessors_ : std::min(multiprocessors_, params.tile_count);
    instance.launch(kernel, maps, blocks, stream);
    HILBENCH_CUDA(cudaGetLastError());
  }

 private:
  ForwardShape shape_;
  Instance strided_;
  Instance gathered_;
  int multiprocessors_ = 0;
  StridedMapCache maps_;
};

}  // namespace

std::int32_t dilated_wgmma_tile_rows(const ForwardShape& shape) {
  return shape.head_dim == 64 ? 192 : 128;
}

std::unique_ptr<ForwardKernel> make_dilated_wgmma(const ForwardShape& shape) {
  return std::make_unique<DilatedWgmma>(shape);
}

}  // namespace hilbench::cuda
