// Launches dilated_mma. The files that include this instantiate dilated_mma_of() or
// windows_mma_of().
#pragma once

#include <memory>
#include <stdexcept>

#include "kernels/cuda/mma/mma_instance.cuh"
#include "kernels/cuda/mma/mma_kernel.cuh"
#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/shared/forward.hpp"
#include "kernels/cuda/shared/window_kernel.hpp"

namespace hilbench::cuda {

template <class Tile>
class DilatedMma final : public ForwardKernel {
 public:
  explicit DilatedMma(const ForwardShape& shape) : shape_(shape) {
    allow_shared_memory(dilated_mma<Tile, Rows::strided>);
    allow_shared_memory(dilated_mma<Tile, Rows::gathered>);
  }

  void launch(const ForwardParams& params, cudaStream_t stream) override {
    if (params.tile_count == 0) return;
    const auto kernel =
        params.key_slots == nullptr ? dilated_mma<Tile, Rows::strided> : dilated_mma<Tile, Rows::gathered>;
    kernel<<<params.tile_count, Tile::kThreads, Tile::kSharedBytes, stream>>>(shape_, params);
    HILBENCH_CUDA(cudaGetLastError());
  }

 private:
  template <class Kernel>
  static void allow_shared_memory(Kernel* kernel) {
    HILBENCH_CUDA(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Tile::kSharedBytes));
  }

  ForwardShape shape_;
};

template <class Tile>
class WindowsMma final : public WindowKernel {
 public:
  explicit WindowsMma(const ForwardShape& shape) : shape_(shape) {
    HILBENCH_CUDA(cudaFuncSetAttribute(dilated_mma<Tile, Rows::windows>,
                                       cudaFuncAttributeMaxDynamicSharedMemorySize, Tile::kSharedBytes));
  }

  MaskLayout mask_layout() const override { return MaskLayout::mma; }

  void launch(const WindowForwardParams& params, cudaStream_t stream) override {
    dilated_mma<Tile, Rows::windows>
        <<<params.tile_count, Tile::kThreads, Tile::kSharedBytes, stream>>>(shape_, params);
    HILBENCH_CUDA(cudaGetLastError());
  }

 private:
  ForwardShape shape_;
};

template <class T>
std::unique_ptr<ForwardKernel> dilated_mma_of(const ForwardShape& shape) {
  return visit_head_dim<T>(shape, [&](auto tile) -> std::unique_ptr<ForwardKernel> {
    return std::make_unique<DilatedMma<decltype(tile)>>(shape);
  });
}

template <class T>
std::unique_ptr<WindowKernel> windows_mma_of(const ForwardShape& shape) {
  return visit_head_dim<T>(shape, [&](auto tile) -> std::unique_ptr<WindowKernel> {
    if constexpr (WindowMasks<decltype(tile)>::kFits)
      return std::make_unique<WindowsMma<decltype(tile)>>(shape);
    throw std::invalid_argument("windows of mma have head_dim 32, 64, 96 and 128");
  });
}

}  // namespace hilbench::cuda
