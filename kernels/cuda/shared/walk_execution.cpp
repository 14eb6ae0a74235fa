#include "kernels/cuda/shared/walk_execution.hpp"

#include <cmath>
#include <vector>

#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/shared/index_image.hpp"
#include "kernels/cuda/shared/walk_image.hpp"
#include "kernels/cuda/shared/walk_kernel.hpp"

namespace hilbench::cuda {
namespace {

// Tables of one branch on the current device.
struct BranchTables {
  BranchTables(const Case& work, const KernelChoice& choice, const WalkBranch& branch, int block_keys)
      : key_step(branch.key_step), tiles(walk_tiles(branch, block_keys)), stretches(walk_stretches(branch)) {
    if (!branch.tiles.empty()) query_step = branch.tiles.front().query_step;
    for (const IndexTile& tile : branch.tiles) any_merge = any_merge || tile.merge;
    if (const auto found = walk_strides(branch, choice.rows))
      strides = *found;
    else
      key_slots = DeviceMemory<std::int32_t>(branch.key_slot);
    if (work.mask == Mask::causal && !branch.keys_by_step)
      key_positions = DeviceMemory<std::int32_t>(branch.key_position);
  }

  void describe(WalkForwardParams& params) const {
    params.query_step = query_step;
    params.key_step = key_step;
    params.key_slot_step = strides.own;
    params.walk.key_slot_step = strides.received;
    params.key_slots = key_slots.data();
    params.key_positions = key_positions.data();
    params.tiles = tiles.data();
    params.walk.stretches = stretches.data();
    params.tile_count = static_cast<std::int32_t>(tiles.size());
    params.any_merge = any_merge ? 1 : 0;
  }

  std::int32_t query_step = 1, key_step = 1;
  bool any_merge = false;
  WalkStrides strides;
  DeviceMemory<ForwardTile> tiles;
  DeviceMemory<KeyStretch> stretches;
  DeviceMemory<std::int32_t> key_slots, key_positions;  // empty where not needed
};

class CudaWalkExecution final : public WalkExecution {
 public:
  CudaWalkExecution(const Case& work, const KernelChoice& choice, const WalkLimits& limits,
                    std::unique_ptr<WalkKernel> kernel)
      : work_(work),
        choice_(choice),
        limits_(limits),
        kernel_(std::move(kernel)),
        counters_(std::vector<std::int32_t>(2, 0)) {}

  void load(const Walk& walk) override {
    q_slots_ = DeviceMemory<std::int32_t>(query_slots(work_, choice_, walk.q_slots));
    branches_.clear();
    for (const WalkBranch& branch : walk.branches)
      branches_.emplace_back(work_, choice_, branch, kernel_->block_keys());
    params_.kv_rows = static_cast<std::int32_t>(walk.kv_rows);
    params_.scale = 1 / std::sqrt(static_cast<float>(work_.head_dim));
    params_.q_slots = q_slots_.data();
    params_.counters = counters_.data();
    params_.spared_multiprocessors = limits_.spared_multiprocessors;
    params_.walk.sources = static_cast<std::int32_t>(walk.sources);
    params_.walk.kv_rows = static_cast<std::int32_t>(walk.received_rows);
    params_.walk.heads_first = walk.heads_first;
    params_.walk.chunks = {static_cast<std::int32_t>(walk.chunks.heads),
                           static_cast<std::int32_t>(walk.chunks.head_chunks)};
    params_.walk.patience_ns = static_cast<std::uint64_t>(1e9 * limits_.timeout_s);
  }

  void run(const Operands& operands, const ReceivedShards& received) override {
    WalkForwardParams params = params_;
    params.q = operands.q;
    params.k = operands.k;
    params.v = operands.v;
    params.o = operands.o_fp32 != nullptr ? operands.o_fp32 : operands.o;
    params.o_fp32 = operands.o_fp32 != nullptr ? 1 : 0;
    params.lse = operands.lse;
    params.walk.k = received.k;
    params.walk.v = received.v;
    params.walk.arrived = received.arrived;
    params.walk.first = received.first;
    params.walk.ended = received.ended;
    params.walk.gave_up = received.gave_up;
    for (const BranchTables& branch : branches_) {
      branch.describe(params);
      if (params.tile_count > 0) kernel_->launch(params, nullptr);
    }
  }

 private:
  Case work_;
  KernelChoice choice_;
  WalkLimits limits_;
  std::unique_ptr<WalkKernel> kernel_;
  DeviceMemory<std::int32_t> counters_, q_slots_;
  std::vector<BranchTables> branches_;
  WalkForwardParams params_;  // what is the same for all branches and runs
};

}  // namespace

std::unique_ptr<WalkExecution> walk_execution(const Case& work, const KernelChoice& choice,
                                              const WalkLimits& limits, MakeWalkKernel make) {
  return std::make_unique<CudaWalkExecution>(work, choice, limits, make(forward_shape(work)));
}

}  // namespace hilbench::cuda
