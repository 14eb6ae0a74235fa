// cuDNN's fused attention. It has no dilation, but accepts any strides: `cudnn` passes it the dilated rows of
// Q, K, V, O and LSE in place, with a few calls for each branch. `cudnn_gather` copies the selected rows of
// every branch with a dilation together, computes attention, and brings the results back to position order.
// cuDNN's heuristics offer several plans for a shape; the fastest one computes, see tune().
// Rows that no branch covers are cleared; several branches are combined by their softmax denominators. The
// backward pass of `cudnn` is in cudnn_backward.cpp. Not handled: that of `cudnn_gather`, fp32, a causal mask
// with dense queries and a dilation, more than one rank.
#include "baselines/cudnn/cudnn.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "baselines/branches/attention_calls.hpp"
#include "baselines/branches/branch_results.hpp"
#include "baselines/cudnn/cudnn_backward.hpp"
#include "baselines/cudnn/cudnn_sdpa.hpp"
#include "baselines/cudnn/sdpa_choice.hpp"
#include "kernels/case/pattern.hpp"
#include "kernels/cuda/runtime/event.hpp"

namespace hilbench {
namespace {

constexpr int kMeasuredRuns = 5;  // measured() returns the median of this many executions

// A branch without dilation is always read in place.
std::vector<RowStorage> storage_of(const Case& work, RowStorage wanted) {
  std::vector<RowStorage> storage;
  for (const Branch& branch : work.pattern)
    storage.push_back(branch.dilation > 1 ? wanted : RowStorage::in_place);
  return storage;
}

// Rows of the gathered copies, for the branch that needs most. Doubles, because a plan may ask for any size.
struct GatheredRows {
  double q = 0, kv = 0;
};
GatheredRows gathered_rows_of(const Case& work, const std::vector<RowStorage>& storage) {
  double positions = 0;
  for (std::size_t b = 0; b < storage.size(); ++b)
    if (storage[b] == RowStorage::gathered)
      positions = std::max(positions, static_cast<double>(work.batch) *
                                          static_cast<double>(segment_count(work, work.pattern[b])) *
                                          static_cast<double>(gathered_rows(work, work.pattern[b])));
  return {work.queries == Queries::dense ? 0 : positions * static_cast<double>(work.heads),
          positions * static_cast<double>(work.kv_heads)};
}

double row_bytes(const Case& work) {
  return static_cast<double>(work.head_dim * dtype_bytes(work.dtype));
}

class CudnnExecution : public Execution {
 public:
  CudnnExecution(const Case& work, RowStorage wanted)
      : work_(work),
        storage_(storage_of(work, wanted)),
        results_(work, storage_),
        plan_of_(work.pattern.size()) {
    const GatheredRows rows = gathered_rows_of(work, storage_);
    gathered_q_ = cuda::DeviceMemory<std::byte>(static_cast<std::size_t>(rows.q * row_bytes(work)));
    gathered_k_ = cuda::DeviceMemory<std::byte>(static_cast<std::size_t>(rows.kv * row_bytes(work)));
    gathered_v_ = cuda::DeviceMemory<std::byte>(static_cast<std::size_t>(rows.kv * row_bytes(work)));
    for (std::size_t b = 0; b < work.pattern.size(); ++b) plan_branch(b);
    allocate_workspace();
  }

  // Times the plans of every shape on its first call, with the operands that are measured later.
  void tune(const Operands& operands) override {
    std::vector<bool> tuned(plans_.size());
    for (std::size_t b = 0; b < work_.pattern.size(); ++b) {
      gather(b, operands);
      for (std::size_t i = 0; i < calls_[b].size(); ++i) {
        const std::size_t plan = plan_of_[b][i];
        if (!tuned[plan]) plans_[plan].choice = fastest_plan(plans_[plan].sdpa, rows_of(b, i, operands));
        tuned[plan] = true;
      }
    }
    allocate_workspace();
  }

  std::map<std::string, std::string> choices() const override {
    std::vector<std::string> names, timed;
    for (const Plan& plan : plans_) {
      names.push_back(plan.sdpa.plans()[plan.choice.plan].name);
      timed.push_back(fmt::format("{} of {}", plan.choice.timed, plan.sdpa.plans().size()));
    }
    return {{"plan", fmt::format("{}", fmt::join(names, ", "))},
            {"plans_timed", fmt::format("{}", fmt::join(timed, ", "))}};
  }

  void run(const Operands& operands, const Index&) override {
    last_ = operands;
    for (std::size_t b = 0; b < work_.pattern.size(); ++b) {
      gather(b, operands);
      attend(b, operands);
    }
    results_.finish(operands, nullptr);
  }

  // Times the parts of a run, with the operands of the last run, which the caller has kept.
  std::map<std::string, Counter> measured() override {
    if (last_.q == nullptr) return {};
    std::array<std::vector<double>, 3> times;
    for (int i = 0; i < kMeasuredRuns; ++i) {
      const std::array<double, 3> parts = time_parts();
      for (std::size_t part = 0; part < parts.size(); ++part) times[part].push_back(parts[part]);
    }
    const auto median = [](std::vector<double>& values) {
      std::nth_element(values.begin(), values.begin() + kMeasuredRuns / 2, values.end());
      return Counter{.value = values[kMeasuredRuns / 2], .unit = "ns", .source = "cuda_events", .passes = 1};
    };
    return {{"gather_time", median(times[0])},
            {"attention_time", median(times[1])},
            {"scatter_time", median(times[2])}};
  }

 private:
  struct Plan {
    AttentionCall shape;  // with `first` 0
    CudnnSdpa sdpa;
    SdpaChoice choice;  // before tune(): the plan that cuDNN's heuristics prefer
  };

  static AttentionCall shape_of(AttentionCall call) {
    call.q.first = call.kv.first = 0;
    return call;
  }

  // Calls of one shape share a plan.
  void plan_branch(std::size_t branch) {
    calls_.push_back(attention_calls(work_, static_cast<std::int64_t>(branch), storage_[branch]));
    for (const AttentionCall& call : calls_.back()) {
      const AttentionCall shape = shape_of(call);
      const auto found =
          std::find_if(plans_.begin(), plans_.end(), [&](const Plan& plan) { return plan.shape == shape; });
      plan_of_[branch].push_back(static_cast<std::size_t>(found - plans_.begin()));
      if (found == plans_.end())
        plans_.push_back({shape, CudnnSdpa(shape, work_.head_dim, work_.dtype, work_.mask)});
    }
  }

  // For the chosen plans.
  void allocate_workspace() {
    std::int64_t most = 0;
    for (const Plan& plan : plans_)
      most = std::max(most, plan.sdpa.plans()[plan.choice.plan].workspace_bytes);
    workspace_ = {};
    workspace_ = cuda::DeviceMemory<std::byte>(static_cast<std::size_t>(most));
  }

  void gather(std::size_t branch, const Operands& operands) const {
    if (storage_[branch] != RowStorage::gathered) return;
    cuda::RowTensor tensor;
    tensor.batch = static_cast<std::int32_t>(work_.batch);
    tensor.sequence = static_cast<std::int32_t>(work_.sequence_length);
    tensor.heads = static_cast<std::int32_t>(work_.kv_heads);
    tensor.head_dim = static_cast<std::int32_t>(work_.head_dim);
    tensor.dtype = work_.dtype;
    cuda::gather_rows(tensor, results_.key_rows(branch), operands.k, gathered_k_.data(), nullptr);
    cuda::gather_rows(tensor, results_.key_rows(branch), operands.v, gathered_v_.data(), nullptr);
    if (work_.queries == Queries::dense) return;
    tensor.heads = static_cast<std::int32_t>(work_.heads);
    cuda::gather_rows(tensor, results_.query_rows(branch), operands.q, gathered_q_.data(), nullptr);
  }

  SdpaRows rows_of(std::size_t branch, std::size_t i, const Operands& operands) const {
    const bool gathered = storage_[branch] == RowStorage::gathered;
    const bool gathered_q = gathered && work_.queries == Queries::dilated;
    const auto row = [&](const void* tensor, std::int64_t first) {
      return static_cast<const std::byte*>(tensor) + first * work_.head_dim * dtype_bytes(work_.dtype);
    };
    const AttentionCall& call = calls_[branch][i];
    return {.q = row(gathered_q ? gathered_q_.data() : operands.q, call.q.first),
            .k = row(gathered ? gathered_k_.data() : operands.k, call.kv.first),
            .v = row(gathered ? gathered_v_.data() : operands.v, call.kv.first),
            .o = const_cast<std::byte*>(row(results_.o(branch, operands), call.q.first)),
            .lse = results_.lse(branch, operands) + call.q.first};
  }

  void attend(std::size_t branch, const Operands& operands) const {
    for (std::size_t i = 0; i < calls_[branch].size(); ++i) {
      const Plan& plan = plans_[plan_of_[branch][i]];
      plan.sdpa.run(plan.choice.plan, rows_of(branch, i, operands), workspace_.data());
    }
  }

  // ns of gathering, attending and finishing, summed over branches.
  std::array<double, 3> time_parts() {
    const std::size_t branches = work_.pattern.size();
    std::vector<cuda::Event> events(2 * branches + 2);
    events[0].record();
    for (std::size_t b = 0; b < branches; ++b) {
      gather(b, last_);
      events[2 * b + 1].record();
      attend(b, last_);
      events[2 * b + 2].record();
    }
    results_.finish(last_, nullptr);
    events.back().record();
    std::array<double, 3> parts = {0, 0, events.back().ns_since(events[2 * branches])};
    for (std::size_t b = 0; b < branches; ++b) {
      parts[0] += events[2 * b + 1].ns_since(events[2 * b]);
      parts[1] += events[2 * b + 2].ns_since(events[2 * b + 1]);
    }
    return parts;
  }

  Case work_;
  std::vector<RowStorage> storage_;
  cuda::BranchResults results_;
  cuda::DeviceMemory<std::byte> gathered_q_, gathered_k_, gathered_v_, workspace_;
  std::vector<Plan> plans_;
  std::vector<std::vector<AttentionCall>> calls_;  // of each branch
  std::vector<std::vector<std::size_t>> plan_of_;  // of each call
  Operands last_;
};

// Whether some call has one query and one key. Looks at no more heads than an execution can have: a plan may
// name any number.
bool has_lone_pair(const Case& work) {
  const std::int64_t heads = std::min<std::int64_t>(work.heads, 1 << 16);
  for (std::size_t b = 0; b < work.pattern.size(); ++b) {
    const auto& [segment, dilation] = work.pattern[b];
    for (const std::int64_t length :
         {std::min(segment, work.sequence_length), work.sequence_length % segment})
      for (std::int64_t head = 0; length < 2 * dilation && head < heads; ++head) {
        if (!head_runs_branch(work, head, static_cast<std::int64_t>(b))) continue;
        const std::int64_t offset = offset_of(work, b, kv_head_of(work, head));
        if (selected_count(length, offset, dilation) == 1 && query_count(work, length, offset, dilation) == 1)
          return true;
      }
  }
  return false;
}

template <RowStorage kStorage>
Refusal why_not(const Case& work, const Variant&) {
  if (work.pass != Pass::forward && kStorage == RowStorage::gathered)
    return "cudnn_gather computes the forward pass only";
  if (work.ring_size > 1) return "cudnn runs on one rank only";
  if (work.dtype == Dtype::fp32) return "cuDNN's fused attention takes bf16 and fp16 only";
  if (work.head_dim % 8 != 0) return "cuDNN's fused attention needs a head_dim that is a multiple of 8";
  if (work.head_dim > 256) return "cuDNN's fused attention takes head_dim up to 256";
  if (work.pattern.size() > cuda::kMaxBranches)
    return fmt::format("cudnn combines at most {} branches", cuda::kMaxBranches);
  const bool dilated = std::any_of(work.pattern.begin(), work.pattern.end(),
                                   [](const Branch& branch) { return branch.dilation > 1; });
  if (work.mask == Mask::causal && work.queries == Queries::dense && dilated)
    return "cuDNN has no causal mask for dense queries against dilated keys";
  if (work.pass != Pass::forward && has_lone_pair(work))
    return "cuDNN has no backward pass for a call of one query and one key";
  return std::nullopt;
}

Refusal why_not_on(const Gpu& gpu) {
  if (gpu.compute_capability < 80)
    return fmt::format("cuDNN's fused attention needs compute capability 8.0, this GPU has {}",
                       gpu.capability_text());
  if (!cudnn_absence().empty()) return cudnn_absence();
  return std::nullopt;
}

nlohmann::json library(const char* layout) {
  if (!cudnn_absence().empty()) return {{"name", "cuDNN"}, {"note", cudnn_absence()}};
  return {{"name", "cuDNN"},
          {"version", cudnn_version()},
          {"frontend", cudnn_frontend_version()},
          {"plans", fmt::format("the fastest of up to {} of heuristics A, B and fallback", kMostSdpaPlans)},
          {"layout", layout}};
}

template <RowStorage kStorage>
double workspace_bytes(const Case& work, int) {
  if (work.pass == Pass::backward) return cudnn_backward_workspace_bytes(work);
  const std::vector<RowStorage> storage = storage_of(work, kStorage);
  const GatheredRows rows = gathered_rows_of(work, storage);
  return cuda::BranchResults::workspace_bytes(work, storage) + (rows.q + 2 * rows.kv) * row_bytes(work);
}

template <RowStorage kStorage>
std::unique_ptr<Execution> prepare(const Case& work, const KernelChoice&, int) {
  if (work.pass == Pass::backward) return cudnn_backward(work);
  return std::make_unique<CudnnExecution>(work, kStorage);
}

}  // namespace

const Implementation kCudnn = {
    .name = "cudnn",
    .help = "cuDNN fused attention on dilated rows in place, zero rows cleared, merged by LSE",
    .kind = ImplementationKind::baseline,
    .device = DeviceKind::cuda,
    .peak_unit = gpu_product_unit,
    .why_not = why_not<RowStorage::in_place>,
    .why_not_on = why_not_on,
    .workspace_bytes = workspace_bytes<RowStorage::in_place>,
    .prepare = prepare<RowStorage::in_place>,
    .library = [] { return library("strided"); },
};

const Implementation kCudnnGather = {
    .name = "cudnn_gather",
    .help = "dilated rows gathered, cuDNN fused attention, scattered with zero rows, merged by LSE",
    .kind = ImplementationKind::baseline,
    .device = DeviceKind::cuda,
    .peak_unit = gpu_product_unit,
    .why_not = why_not<RowStorage::gathered>,
    .why_not_on = why_not_on,
    .workspace_bytes = workspace_bytes<RowStorage::gathered>,
    .prepare = prepare<RowStorage::gathered>,
    .library = [] { return library("gathered"); },
};

}  // namespace hilbench
