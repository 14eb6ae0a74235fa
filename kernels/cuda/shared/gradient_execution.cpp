#include "kernels/cuda/shared/gradient_execution.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/shared/gradient.hpp"
#include "kernels/cuda/shared/gradient_image.hpp"
#include "kernels/cuda/shared/index_image.hpp"

namespace hilbench::cuda {
namespace {

std::size_t head_rows(const Case& work, std::int64_t heads) {
  return static_cast<std::size_t>(work.batch * work.sequence_length * heads);
}
std::size_t elements(const Case& work, std::int64_t heads) {
  return head_rows(work, heads) * static_cast<std::size_t>(work.head_dim);
}

// Whether two launches may compute the same row.
bool branches_add(const Case& work) {
  return work.pattern.size() > 1;
}

bool needs_fp32_sums(const Case& work) {
  return work.dtype != Dtype::fp32 && branches_add(work);
}

// Whether there may be rows that no launch computes.
bool leaves_rows(const Case& work) {
  return work.pattern.front().dilation > 1;
}

class GradientExecution final : public Execution {
 public:
  GradientExecution(const Case& work, const KernelChoice& choice, std::unique_ptr<GradientKernel> kernel,
                    std::int32_t tile_rows)
      : work_(work),
        choice_(choice),
        shape_(forward_shape(work)),
        kernel_(std::move(kernel)),
        tile_rows_(tile_rows),
        statistics_(head_rows(work, work.heads)) {
    if (needs_fp32_sums(work))
      for (const auto& [sums, heads] : {std::pair(&q_sums_, work.heads), std::pair(&k_sums_, work.kv_heads),
                                        std::pair(&v_sums_, work.kv_heads)})
        *sums = DeviceMemory<float>(elements(work, heads));
  }

  void load(const Index& index) override {
    q_slots_ = DeviceMemory<std::int32_t>(query_slots(work_, choice_, index.q_slots));
    branches_.clear();
    for (const BranchIndex& branch : index.branches)
      branches_.emplace_back(work_, choice_, branch, tile_rows_, kernel_->turn_queries());
  }

  void run(const Operands& operands, const Index& index) override {
    const bool summed = needs_fp32_sums(work_);
    find_row_statistics(shape_, operands.o, operands.d_o, operands.lse, q_slots_.data(), statistics_.data(),
                        nullptr);
    GradientParams params;
    params.q = operands.q, params.k = operands.k, params.v = operands.v, params.d_o = operands.d_o;
    params.statistics = statistics_.data();
    params.d_q = summed ? q_sums_.data() : operands.d_q;
    params.d_k = summed ? k_sums_.data() : operands.d_k;
    params.d_v = summed ? v_sums_.data() : operands.d_v;
    params.gradients_fp32 = summed ? 1 : 0;
    params.adds = branches_add(work_) ? 1 : 0;
    params.kv_rows = static_cast<std::int32_t>(index.kv_rows);
    params.scale = 1 / std::sqrt(static_cast<float>(work_.head_dim));
    params.q_slots = q_slots_.data();
    const bool in_turn = kernel_->turn_queries() > 0;
    const auto clear = [&](void* gradient, std::int64_t heads) {
      const std::size_t bytes = summed ? sizeof(float) : static_cast<std::size_t>(dtype_bytes(work_.dtype));
      HILBENCH_CUDA(cudaMemsetAsync(gradient, 0, elements(work_, heads) * bytes, nullptr));
    };
    const bool all = branches_add(work_) || leaves_rows(work_);
    if (all || in_turn) clear(params.d_q, work_.heads);
    if (all) {
      clear(params.d_k, work_.kv_heads);
      clear(params.d_v, work_.kv_heads);
    }
    for (std::size_t number = 0; number < branches_.size(); ++number) {
      branches_[number].describe(params);
      if (in_turn) branches_[number].begin_turns(params);
      params.dropout = branch_dropout(work_, number);
      kernel_->launch(params, nullptr);
    }
    if (!summed) return;
    ForwardShape keys = shape_;
    keys.heads = keys.kv_heads;
    round_output(shape_, q_sums_.data(), operands.d_q, nullptr);
    round_output(keys, k_sums_.data(), operands.d_k, nullptr);
    round_output(keys, v_sums_.data(), operands.d_v, nullptr);
  }

 private:
  struct TilesOfBranch {
    TilesOfBranch(const Case& work, const KernelChoice& choice, const BranchIndex& branch,
                  std::int32_t tile_rows, std::int32_t turn_queries)
        : queries(work, choice, branch) {
      const KeyTileLists made = key_tile_lists(work, branch, tile_rows);
      key_tiles = DeviceMemory<KeyTile>(made.tiles);
      runs = DeviceMemory<QueryRun>(made.runs);
      if (turn_queries == 0 || made.runs.empty()) return;
      const std::int32_t most = std::ranges::max(made.runs, {}, &QueryRun::count).count;
      turn_blocks = (most + turn_queries - 1) / turn_queries;
      turns = DeviceMemory<std::int32_t>(1 + made.runs.size() * static_cast<std::size_t>(turn_blocks));
    }
    void describe(GradientParams& params) const {
      params.query_step = queries.query_step;
      params.key_step = queries.key_step;
      params.key_slot_step = queries.key_slot_step;
      params.key_slots = queries.key_slots.data();
      params.key_positions = queries.key_positions.data();
      params.tiles = queries.tiles.data();
      params.tile_count = static_cast<std::int32_t>(queries.tiles.size());
      params.key_tiles = key_tiles.data();
      params.key_tile_count = static_cast<std::int32_t>(key_tiles.size());
      params.runs = runs.data();
    }
    void begin_turns(GradientParams& params) {
      params.turns = turns.data();
      params.turn_blocks = turn_blocks;
      if (turns.data() != nullptr)
        HILBENCH_CUDA(cudaMemsetAsync(turns.data(), 0, turns.size() * sizeof(std::int32_t), nullptr));
    }

    BranchImage queries;
    DeviceMemory<KeyTile> key_tiles;
    DeviceMemory<QueryRun> runs;
    DeviceMemory<std::int32_t> turns;
    std::int32_t turn_blocks = 0;
  };

  Case work_;
  KernelChoice choice_;
  ForwardShape shape_;
  std::unique_ptr<GradientKernel> kernel_;
  std::int32_t tile_rows_;
  DeviceMemory<RowStatistics> statistics_;
  DeviceMemory<float> q_sums_, k_sums_, v_sums_;
  DeviceMemory<std::int32_t> q_slots_;
  std::vector<TilesOfBranch> branches_;
};

}  // namespace

std::unique_ptr<Execution> gradient_execution(const Case& work, const KernelChoice& choice,
                                              MakeGradientKernel make, std::int32_t tile_rows) {
  return std::make_unique<GradientExecution>(work, choice, make(forward_shape(work)), tile_rows);
}

double gradient_workspace_bytes(const Case& work) {
  const auto statistics = static_cast<double>(head_rows(work, work.heads) * sizeof(RowStatistics));
  const auto sums =
      static_cast<double>((elements(work, work.heads) + 2 * elements(work, work.kv_heads)) * sizeof(float));
  return statistics + (needs_fp32_sums(work) ? sums : 0);
}

}  // namespace hilbench::cuda
