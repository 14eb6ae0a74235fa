// Attention of windows on a grid, forward, for Hopper (sm_90a): dilated_wgmma with tiles of 128 rows of Q,
// the keys that each tile lists, and masks in tables (kernels/cuda/shared/window_lists.hpp). Aligned keys
// arrive by TMA, a block of 128 slots at a time (above head_dim 128 half of it); the rows of a list one by
// one. Rows of O go to their positions.
//
// Rows may see their first key in any block: such a row chooses the scale of its exponentials there.
#include <algorithm>
#include <memory>

#include "kernels/cuda/shared/window_kernel.hpp"
#include "kernels/cuda/wgmma/tensor_map.hpp"
#include "kernels/cuda/wgmma/wgmma_block.cuh"
#include "kernels/cuda/wgmma/wgmma_instance.cuh"
#include "kernels/cuda/wgmma/wgmma_tiling.cuh"

namespace hilbench::cuda {
namespace {

template <class S>
__global__ void __launch_bounds__(S::kThreads, 1)
    windows_wgmma(const __grid_constant__ WindowParams p, const __grid_constant__ StridedMaps maps) {
  extern __shared__ __align__(1024) unsigned char shared[];
  run_block<S>(p, maps, shared);
}

template <bool kGathered, bool kBoxes>
Instance choose(const ForwardShape& shape) {
  return choose_instance(shape, [](auto element, auto dim, auto padded) {
    constexpr bool kPadded = decltype(padded)::value;
    using S = WindowShape<typename decltype(element)::Type, decltype(dim)::value, kPadded, kGathered,
                          kBoxes || (kPadded && !kGathered)>;
    static_assert(S::kRows == 128 && S::kKeys * S::kMaskParts == 128, "of a mask");
    return instance_of<S>(windows_wgmma<S>);
  });
}

class WindowsWgmma : public WindowKernel {
 public:
  WindowsWgmma(const ForwardShape& shape, const Instance& aligned, const Instance& gathered)
      : shape_(shape),
        aligned_(aligned),
        gathered_(gathered),
        multiprocessors_(prepare_instances({aligned, gathered})) {}

  MaskLayout mask_layout() const override { return MaskLayout::wgmma; }

  void launch(const WindowForwardParams& params, cudaStream_t stream) override {
    const Instance& instance = params.key_slots != nullptr ? gathered_ : aligned_;
    const WindowParams kernel{kernel_params(shape_, params), tables(params)};
    launch_instance(instance, kernel, maps_of(params, instance),
                    std::min(multiprocessors_, params.tile_count), stream);
  }

 protected:
  virtual const StridedMaps& maps_of(const WindowForwardParams& params, const Instance& instance) {
    return maps_.of(shape_, params, instance.boxes);
  }
  // Boxes of single positions: keys are read by slot, which order `boxes` has sorted already.
  virtual WindowTables tables(const WindowForwardParams& params) const {
    WindowTables tables = params.windows;
    tables.boxes = {};
    return tables;
  }
  ForwardShape shape_;

 private:
  Instance aligned_, gathered_;
  int multiprocessors_;
  StridedMapCache maps_;
};

// Tiles and key blocks are boxes of the grid, which tensor maps fetch from tensors in position order.
class BoxesWgmma final : public WindowsWgmma {
 public:
  explicit BoxesWgmma(const ForwardShape& shape)
      : WindowsWgmma(shape, choose<false, true>(shape), choose<false, true>(shape)) {}

 protected:
  const StridedMaps& maps_of(const WindowForwardParams& params, const Instance& instance) override {
    return maps_.of(shape_, params, instance.boxes);
  }
  WindowTables tables(const WindowForwardParams& params) const override { return params.windows; }

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
