// Dilated attention, forward, for Hopper (sm_90a): O = softmax(scale Q K^T) V over the selected rows of each
// segment (LongNet, arXiv 2307.02486, Eqs. 3-8), exact online softmax, fp32 accumulation, bf16 or fp16
// operands, head_dim 32 to 256 in steps of 8.
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
//
// The code is compiled for head_dim 64, 80, 96, 128, 192 and 256; the sizes between run in the next larger
// one. Tensor maps and copies fill the columns that they lack with zeros, which no row in device memory has.
#include <algorithm>
#include <memory>

#include "kernels/cuda/shared/forward.hpp"
#include "kernels/cuda/wgmma/tensor_map.hpp"
#include "kernels/cuda/wgmma/wgmma_block.cuh"
#include "kernels/cuda/wgmma/wgmma_instance.cuh"
#include "kernels/cuda/wgmma/wgmma_tile_sizes.hpp"
#include "kernels/cuda/wgmma/wgmma_tiling.cuh"

namespace hilbench::cuda {

namespace {

template <class S>
__global__ void __launch_bounds__(S::kThreads, 1)
    dilated_wgmma(const __grid_constant__ KernelParams p, const __grid_constant__ StridedMaps maps) {
  extern __shared__ __align__(1024) unsigned char shared[];
  run_block<S>(p, maps, shared);
}

template <bool kCausal, bool kGathered>
Instance choose(const ForwardShape& shape) {
  return choose_instance(shape, [](auto element, auto dim, auto padded) {
    constexpr bool kPadded = decltype(padded)::value;
    using S =
        Shape<typename decltype(element)::Type, decltype(dim)::value, kPadded, kCausal || kPadded, kGathered>;
    static_assert(S::kRows == wgmma_tile_rows(S::kDim));
    return instance_of<S>(dilated_wgmma<S>);
  });
}

template <bool kGathered>
Instance choose(const ForwardShape& shape) {
  return shape.causal ? choose<true, kGathered>(shape) : choose<false, kGathered>(shape);
}

class DilatedWgmma : public ForwardKernel {
 public:
  explicit DilatedWgmma(const ForwardShape& shape)
      : shape_(shape),
        strided_(choose<false>(shape)),
        gathered_(choose<true>(shape)),
        multiprocessors_(prepare_instances({strided_, gathered_})) {}

  bool clears() const override { return true; }

  void launch(const ForwardParams& params, cudaStream_t stream) override {
    if (params.tile_count == 0 && params.fill == nullptr) return;
    const bool clears_apart = params.fill != nullptr && params.any_merge != 0;
    if (clears_apart) clear_uncovered(shape_, params, stream);
    const Instance& instance = params.key_slots != nullptr ? gathered_ : strided_;
    KernelParams kernel = kernel_params(shape_, params);
    if (clears_apart) kernel.fill = nullptr;
    const int blocks =
        kernel.fill != nullptr ? multiprocessors_ : std::min(multiprocessors_, params.tile_count);
    launch_instance(instance, kernel, maps_.of(shape_, params, instance.boxes), blocks, stream);
  }

 private:
  ForwardShape shape_;
  Instance strided_, gathered_;
  int multiprocessors_;
  StridedMapCache maps_;
};

}  // namespace

std::unique_ptr<ForwardKernel> make_dilated_wgmma(const ForwardShape& shape) {
  return std::make_unique<DilatedWgmma>(shape);
}

}  // namespace hilbench::cuda
