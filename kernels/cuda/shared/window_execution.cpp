#include "kernels/cuda/shared/window_execution.hpp"

#include <cmath>
#include <vector>

#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/pinned_memory.hpp"
#include "kernels/cuda/shared/window_kernel.hpp"
#include "kernels/cuda/shared/window_lists.hpp"
#include "kernels/windows/case_index.hpp"

namespace hilbench::cuda {
namespace {

class WindowExecution final : public Execution {
 public:
  WindowExecution(const Case& work, const KernelChoice& choice, std::unique_ptr<WindowKernel> kernel)
      : work_(work),
        choice_(choice),
        kernel_(std::move(kernel)),
        counters_(std::vector<std::int32_t>(2, 0)) {}

  void load(const Index& index) override {
    const BranchIndex& branch = index.branches.front();
    const WindowLists lists = window_lists(branch, choice_.tiles, kernel_->mask_layout());
    tiles_ = DeviceMemory<ForwardTile>(window_tiles(branch, lists));
    query_rows_ = DeviceMemory<std::int32_t>(branch.query_rows);
    mask_of_block_ = DeviceMemory<std::int32_t>(lists.mask_of_block);
    constexpr std::size_t kPart = kMasksUnderway / 2 * kMaskWords;
    masks_ = upload_parts<std::uint64_t>(
        lists.mask_count() * kMaskWords, kPart, [&](std::size_t first, std::size_t size, std::uint64_t* to) {
          write_masks(lists, kernel_->mask_layout(), first / kMaskWords, {to, size});
        });
    key_blocks_ = DeviceMemory<std::int32_t>(lists.key_blocks);
    key_slots_ = DeviceMemory<std::int32_t>(lists.key_slots);
  }

  void run(const Operands& operands, const Index& index) override {
    WindowForwardParams params;
    params.q = operands.q;
    params.k = operands.k;
    params.v = operands.v;
    params.kv_rows = static_cast<std::int32_t>(index.kv_rows);
    params.o = operands.o_fp32 != nullptr ? operands.o_fp32 : operands.o;
    params.lse = operands.lse;
    params.o_fp32 = operands.o_fp32 != nullptr ? 1 : 0;
    params.scale = 1 / std::sqrt(static_cast<float>(work_.head_dim));
    params.key_slots = key_slots_.data();
    params.tiles = tiles_.data();
    params.tile_count = static_cast<std::int32_t>(tiles_.size());
    params.counters = counters_.data();
    params.windows = {query_rows_.data(), key_blocks_.data(), mask_of_block_.data(), masks_.data(),
                      grid_boxes(work_, choice_)};
    if (params.tile_count > 0) kernel_->launch(params, nullptr);
    if (operands.o_fp32 != nullptr && operands.o != nullptr)
      round_output(forward_shape(work_), operands.o_fp32, operands.o, nullptr);
  }

 private:
  Case work_;
  KernelChoice choice_;
  std::unique_ptr<WindowKernel> kernel_;
  DeviceMemory<std::int32_t> counters_;
  DeviceMemory<ForwardTile> tiles_;
  DeviceMemory<std::int32_t> query_rows_, key_blocks_, key_slots_, mask_of_block_;
  DeviceMemory<std::uint64_t> masks_;
};

}  // namespace

std::unique_ptr<Execution> window_execution(const Case& work, const KernelChoice& choice,
                                            MakeWindowKernel make) {
  return std::make_unique<WindowExecution>(work, choice, make(forward_shape(work)));
}

}  // namespace hilbench::cuda
