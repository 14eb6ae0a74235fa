// dilated_wgmma for a rank of a ring, in one launch: each tile of queries walks the keys of its own shard and
// then those of the shards that arrive from other ranks, while O and the state of its softmax stay in
// registers. The warp that loads keys waits for each chunk of a shard to arrive (Flux, arXiv 2406.06858,
// section 3, does so for a product of matrices).
//
// A block never waits for another block, only for copies, and whoever launches this enqueues the copies
// before it. So it does not matter how many blocks run at the same time.
#include <algorithm>
#include <memory>

#include "kernels/cuda/shared/walk_kernel.hpp"
#include "kernels/cuda/wgmma/tensor_map.hpp"
#include "kernels/cuda/wgmma/wgmma_block.cuh"
#include "kernels/cuda/wgmma/wgmma_instance.cuh"
#include "kernels/cuda/wgmma/wgmma_tile_sizes.hpp"
#include "kernels/cuda/wgmma/wgmma_tiling.cuh"

namespace hilbench::cuda {
namespace {

template <class S>
__global__ void __launch_bounds__(S::kThreads, 1)
    walk_wgmma(const __grid_constant__ WalkParams p, const __grid_constant__ WalkMaps maps) {
  extern __shared__ __align__(1024) unsigned char shared[];
  run_block<S>(p, maps, shared);
}

template <bool kCausal, bool kGathered>
Instance choose(const ForwardShape& shape) {
  return choose_instance(shape, [](auto element, auto dim, auto padded) {
    constexpr bool kPadded = decltype(padded)::value;
    using S = WalkShape<typename decltype(element)::Type, decltype(dim)::value, kPadded, kCausal || kPadded,
                        kGathered>;
    return instance_of<S>(walk_wgmma<S>);
  });
}

template <bool kGathered>
Instance choose(const ForwardShape& shape) {
  return shape.causal ? choose<true, kGathered>(shape) : choose<false, kGathered>(shape);
}

class WalkWgmma final : public WalkKernel {
 public:
  explicit WalkWgmma(const ForwardShape& shape)
      : shape_(shape),
        strided_(choose<false>(shape)),
        gathered_(choose<true>(shape)),
        multiprocessors_(prepare_instances({strided_, gathered_})) {}

  int block_keys() const override { return wgmma_block_keys(shape_.head_dim, false); }

  void launch(const WalkForwardParams& params, cudaStream_t stream) override {
    if (params.tile_count == 0) return;
    const Instance& instance = params.key_slots != nullptr ? gathered_ : strided_;
    const WalkParams kernel{kernel_params(shape_, params), params.walk};
    const int blocks = std::clamp(multiprocessors_ - params.spared_multiprocessors, 1, params.tile_count);
    launch_instance(instance, kernel, maps_.of(shape_, params, instance.boxes), blocks, stream);
  }

 private:
  ForwardShape shape_;
  Instance strided_, gathered_;
  int multiprocessors_;
  WalkMapCache maps_;
};

}  // namespace

std::unique_ptr<WalkKernel> make_walk_wgmma(const ForwardShape& shape) {
  return std::make_unique<WalkWgmma>(shape);
}

}  // namespace hilbench::cuda
