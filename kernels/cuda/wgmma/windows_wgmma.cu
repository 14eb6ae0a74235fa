// Attention of windows on a grid, forward, for Hopper (sm_90a): dilated_wgmma with tiles of 128 rows of Q,
// the keys that each tile lists, and masks in tables (kernels/cuda/shared/window_lists.hpp). Aligned keys
// arrive by TMA, a block of 128 slots at a time; the rows of a list one by one. Rows of O go to their
// positions.
//
// Rows may see their first key in any block: such a row chooses the scale of its exponentials there.
#include <cuda_runtime.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/shared/window_kernel.hpp"
#include "kernels/cuda/wgmma/tensor_map.hpp"
#include "kernels/cuda/wgmma/wgmma_block.cuh"
#include "kernels/cuda/wgmma/wgmma_tiling.cuh"

namespace hilbench::cuda {
namespace {

template <class S>
__global__ void __launch_bounds__(S::kThreads, 1)
    windows_wgmma(const __grid_constant__ WindowParams p, const __grid_constant__ StridedMaps maps) {
  extern __shared__ __align__(1024) unsigned char shared[];
  run_block<S>(p, maps, shared);
}

template <class S>
void launch_instance(const WindowParams& params, const StridedMaps& maps, int blocks, cudaStream_t stream) {
  windows_wgmma<S><<<blocks, S::kThreads, S::kSharedBytes, stream>>>(params, maps);
}

struct Instance {
  void (*launch)(const WindowParams&, const StridedMaps&, int, cudaStream_t);
  const void* function;
  int shared_bytes;
  BoxRows boxes;
};

template <class S>
Instance instance_of() {
  static_assert(S::kRows == 128 && S::kKeys == 128, "of a mask");
  return {launch_instance<S>,
          reinterpret_cast<const void*>(&windows_wgmma<S>),
          S::kSharedBytes,
          {64, S::kKeys, 16}};
}

template <bool kGathered, bool kBoxes>
Instance choose(const ForwardShape& shape) {
  if (shape.head_dim != 64 && shape.head_dim != 128)
    throw std::invalid_argument("windows of wgmma have head_dim 64 and 128");
  const bool wide = shape.head_dim == 128;
  if (shape.dtype == Dtype::bf16)
    return wide ? instance_of<WindowShape<__nv_bfloat16, 128, kGathered, kBoxes>>()
                : instance_of<WindowShape<__nv_bfloat16, 64, kGathered, kBoxes>>();
  if (shape.dtype == Dtype::fp16)
    return wide ? instance_of<WindowShape<__half, 128, kGathered, kBoxes>>()
                : instance_of<WindowShape<__half, 64, kGathered, kBoxes>>();
  throw std::invalid_argument("windows of wgmma are of bf16 and fp16");
}

class WindowsWgmma : public WindowKernel {
 public:
  WindowsWgmma(const ForwardShape& shape, const Instance& aligned, const Instance& gathered)
      : shape_(shape), aligned_(aligned), gathered_(gathered) {
    int device = 0;
    HILBENCH_CUDA(cudaGetDevice(&device));
    HILBENCH_CUDA(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device));
    for (const Instance& instance : {aligned_, gathered_})
      HILBENCH_CUDA(cudaFuncSetAttribute(instance.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         instance.shared_bytes));
  }

  MaskLayout mask_layout() const override { return MaskLayout::wgmma; }

  void launch(const WindowForwardParams& params, cudaStream_t stream) override {
    const Instance& instance = params.key_slots != nullptr ? gathered_ : aligned_;
    WindowParams kernel{};
    kernel.q = params.q;
    kernel.k = params.k;
    kernel.v = params.v;
    kernel.o = params.o;
    kernel.lse = params.lse;
    kernel.key_slots = params.key_slots;
    kernel.tiles = params.tiles;
    kernel.counters = params.counters;
    kernel.tile_count = params.tile_count;
    kernel.sequence = shape_.sequence;
    kernel.kv_rows = params.kv_rows;
    kernel.batch = shape_.batch;
    kernel.heads = shape_.heads;
    kernel.kv_heads = shape_.kv_heads;
    kernel.query_step = kernel.key_step = kernel.key_slot_step = 1;
    kernel.o_fp32 = params.o_fp32;
    kernel.scale = params.scale;
    kernel.windows = params.windows;
    const StridedMaps& maps = maps_of(params, instance);
    instance.launch(kernel, maps, std::min(multiprocessors_, params.tile_count), stream);
    HILBENCH_CUDA(cudaGetLastError());
  }

 protected:
  virtual const StridedMaps& maps_of(const WindowForwardParams& params, const Instance& instance) {
    return maps_.of(shape_, params, instance.boxes);
  }
  ForwardShape shape_;

 private:
  Instance aligned_, gathered_;
  int multiprocessors_ = 0;
  StridedMapCache maps_;
};

// Tiles and key blocks are boxes of the grid, which tensor maps fetch from tensors in position order.
class BoxesWgmma final : public WindowsWgmma {
 public:
  explicit BoxesWgmma(const ForwardShape& shape)
      : WindowsWgmma(shape, choose<false, true>(shape), choose<false, true>(shape)) {}

 protected:
  const StridedMaps& maps_of(const WindowForwardParams& params, const Instance&) override {
    return maps_.of(shape_, params);
  }

 private:
  BoxMapCache maps_;
};

}  // namespace

std::unique_ptr<WindowKernel> make_windows_wgmma(const ForwardShape& shape) {
  return std::make_unique<WindowsWgmma>(shape, choose<false, false>(shape), choose<true, false>(shape));
}

std::unique_ptr<WindowKernel> make_boxes_wgmma(const ForwardShape& shape) {
  return std::make_unique<BoxesWgmma>(shape);
}

}  // namespace hilbench::cuda
