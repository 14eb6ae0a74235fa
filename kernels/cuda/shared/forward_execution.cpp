#include "kernels/cuda/shared/forward_execution.hpp"

#include <cmath>
#include <vector>

#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/shared/forward.hpp"
#include "kernels/cuda/shared/index_image.hpp"

namespace hilbench::cuda {
namespace {

constexpr std::size_t kCounters = 2;

bool branches_merge(const Case& work) {
  return work.pattern.size() > 1 && work.branch_heads == BranchHeads::all;
}

bool needs_fp32_output(const Case& work) {
  return work.dtype != Dtype::fp32 && branches_merge(work);
}

std::size_t output_elements(const Case& work) {
  return static_cast<std::size_t>(work.batch * work.sequence_length * work.heads * work.head_dim);
}

class ForwardExecution final : public Execution {
 public:
  ForwardExecution(const Case& work, const KernelChoice& choice, std::unique_ptr<ForwardKernel> kernel)
      : work_(work),
        choice_(choice),
        shape_(forward_shape(work)),
        kernel_(std::move(kernel)),
        covers_(head_covers(work)),
        counters_(std::vector<std::int32_t>(kCounters, 0)) {
    if (needs_fp32_output(work)) merged_o_ = DeviceMemory<float>(output_elements(work));
  }

  void load(const Index& index) override {
    q_slots_ = DeviceMemory<std::int32_t>(query_slots(work_, choice_, index.q_slots));
    branches_.clear();
    for (const BranchIndex& branch : index.branches) branches_.emplace_back(work_, choice_, branch);
  }

  void run(const Operands& operands, const Index& index) override {
    float* collected = operands.o_fp32 != nullptr ? operands.o_fp32 : merged_o_.data();
    ForwardParams params{.q = operands.q,
                         .k = operands.k,
                         .v = operands.v,
                         .kv_rows = static_cast<std::int32_t>(index.kv_rows),
                         .o = collected != nullptr ? collected : operands.o,
                         .lse = operands.lse,
                         .o_fp32 = collected != nullptr ? 1 : 0,
                         .scale = 1 / std::sqrt(static_cast<float>(work_.head_dim)),
                         .q_slots = q_slots_.data(),
                         .counters = counters_.data()};
    bool clear = covers_.size() > 0;
    for (std::size_t number = 0; number < branches_.size(); ++number) {
      branches_[number].describe(params);
      params.dropout = branch_dropout(work_, number);
      params.fill = clear ? covers_.data() : nullptr;
      if (clear && (!kernel_->clears() || params.tile_count == 0)) {
        clear_uncovered(shape_, params, nullptr);
        params.fill = nullptr;
      }
      clear = false;
      if (params.tile_count > 0) kernel_->launch(params, nullptr);
    }
    if (collected != nullptr && operands.o != nullptr) round_output(shape_, collected, operands.o, nullptr);
  }

 private:
  Case work_;
  KernelChoice choice_;
  ForwardShape shape_;
  std::unique_ptr<ForwardKernel> kernel_;
  DeviceMemory<HeadCover> covers_;
  DeviceMemory<std::int32_t> counters_;
  DeviceMemory<float> merged_o_;
  DeviceMemory<std::int32_t> q_slots_;
  std::vector<BranchImage> branches_;
};

}  // namespace

std::unique_ptr<Execution> forward_execution(const Case& work, const KernelChoice& choice,
                                             MakeForwardKernel make) {
  return std::make_unique<ForwardExecution>(work, choice, make(forward_shape(work)));
}

double forward_workspace_bytes(const Case& work) {
  return needs_fp32_output(work) ? 4.0 * static_cast<double>(output_elements(work)) : 0.0;
}

}  // namespace hilbench::cuda
