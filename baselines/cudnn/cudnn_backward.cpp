// Every call gets the O and LSE of all branches, so its gradients are those of its pairs, to be added up.
// cuDNN reads the dilated rows of Q, K, V, O and dO in place if it has a plan for their strides, else copies;
// LSE is always copied, because cuDNN below 9.26 reads only [outer, heads, rows]. Where each row of a
// gradient is in one call alone, cuDNN writes it in place too; else calls are added up in fp32 and rounded
// once.
#include "baselines/cudnn/cudnn_backward.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "baselines/branches/attention_calls.hpp"
#include "baselines/branches/branch_rows.hpp"
#include "baselines/cudnn/cudnn_sdpa.hpp"
#include "baselines/cudnn/sdpa_choice.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/status.hpp"

namespace hilbench {
namespace {

using cuda::CallCounts;
using cuda::CallRows;
using cuda::DeviceMemory;

CallCounts query_counts(const AttentionCall& call) {
  return {call.outer, call.queries, call.heads};
}
CallCounts key_counts(const AttentionCall& call) {
  return {call.outer, call.keys, call.kv_heads};
}
std::int64_t count_of(const CallCounts& counts) {
  return counts.outer * counts.rows * counts.heads;
}
CallRows in_tensor(const RowStrides& strides) {
  return {strides.outer, strides.row, strides.head};
}
// [outer, rows, heads]
CallRows in_copy(const CallCounts& counts) {
  return {counts.rows * counts.heads, counts.heads, 1};
}

RowStrides strides_of(const CallRows& rows) {
  return {.first = 0, .outer = rows.outer, .head = rows.head, .row = rows.row};
}

AttentionCall copied(AttentionCall call) {
  call.q = strides_of(in_copy(query_counts(call)));
  call.kv = strides_of(in_copy(key_counts(call)));
  return call;
}

AttentionCall without_first(AttentionCall call) {
  call.q.first = call.kv.first = 0;
  return call;
}

// Whether no row of K and V is in two calls.
bool keys_are_apart(const std::vector<AttentionCall>& calls) {
  std::set<std::tuple<std::int64_t, std::int64_t>> streams;  // by first row, and distance of rows
  for (const AttentionCall& call : calls)
    for (std::int64_t outer = 0; outer < call.outer; ++outer)
      for (std::int64_t head = 0; head < call.kv_heads; ++head)
        if (!streams.emplace(call.kv.first + outer * call.kv.outer + head * call.kv.head, call.kv.row).second)
          return false;
  return true;
}

bool merges(const Case& work) {
  return work.pattern.size() > 1 && work.branch_heads == BranchHeads::all;
}

class CudnnBackward final : public Execution {
 public:
  explicit CudnnBackward(const Case& work)
      : work_(work),
        row_bytes_(work.head_dim * dtype_bytes(work.dtype)),
        q_rows_(work.batch * work.sequence_length * work.heads),
        kv_rows_(work.batch * work.sequence_length * work.kv_heads) {
    for (std::size_t b = 0; b < work.pattern.size(); ++b)
      for (const AttentionCall& call :
           attention_calls(work, static_cast<std::int64_t>(b), RowStorage::in_place))
        calls_.push_back(call);
    for (const AttentionCall& call : calls_) {
      q_written_ += count_of(query_counts(call));
      kv_written_ += count_of(key_counts(call));
    }
    q_apart_ = !merges(work);
    kv_apart_ = work.pattern.size() == 1 && keys_are_apart(calls_);
    for (const AttentionCall& call : calls_) plan_of_.push_back(plan_for(without_first(call)));
    allocate_buffers();
    allocate_workspace();
  }

  // Times the plans of every shape on its first call, with the operands that are measured later.
  void tune(const Operands& operands) override {
    std::vector<bool> tuned(plans_.size());
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      Plan& plan = plans_[plan_of_[i]];
      if (tuned[plan_of_[i]]) continue;
      plan.choice = fastest_plan(plan.sdpa, prepared_rows(i, operands));
      tuned[plan_of_[i]] = true;
    }
    allocate_workspace();
  }

  std::map<std::string, std::string> choices() const override {
    std::vector<std::string> names, timed;
    std::set<std::string> rows;
    for (const Plan& plan : plans_) {
      names.push_back(plan.sdpa.plans()[plan.choice.plan].name);
      timed.push_back(fmt::format("{} of {}", plan.choice.timed, plan.sdpa.plans().size()));
      rows.insert(plan.copies ? "copied" : "in place");
    }
    return {{"plan", fmt::format("{}", fmt::join(names, ", "))},
            {"plans_timed", fmt::format("{}", fmt::join(timed, ", "))},
            {"rows", fmt::format("{}", fmt::join(rows, ", "))},
            {"deterministic", "no"}};
  }

  void run(const Operands& operands, const Index&) override {
    begin(operands.d_q, d_q_, q_rows_, q_written_);
    begin(operands.d_k, d_k_, kv_rows_, kv_written_);
    begin(operands.d_v, d_v_, kv_rows_, kv_written_);
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const Plan& plan = plans_[plan_of_[i]];
      const SdpaRows rows = prepared_rows(i, operands);
      plan.sdpa.run(plan.choice.plan, rows, workspace_.data());
      const AttentionCall& call = calls_[i];
      collect(plan, query_counts(call), call.q, q_apart_, rows.d_q, operands.d_q, d_q_);
      collect(plan, key_counts(call), call.kv, kv_apart_, rows.d_k, operands.d_k, d_k_);
      collect(plan, key_counts(call), call.kv, kv_apart_, rows.d_v, operands.d_v, d_v_);
    }
    finish(operands.d_q, d_q_, q_rows_);
    finish(operands.d_k, d_k_, kv_rows_);
    finish(operands.d_v, d_v_, kv_rows_);
  }

 private:
  struct Plan {
    AttentionCall shape;  // with `first` 0
    bool copies = false;  // reads copies of rows, and writes gradients of that layout
    CudnnSdpa sdpa;
    SdpaChoice choice;  // before tune(): the plan that cuDNN's heuristics prefer
  };

  // Calls of one shape share a plan.
  std::size_t plan_for(const AttentionCall& shape) {
    const auto found =
        std::find_if(plans_.begin(), plans_.end(), [&](const Plan& plan) { return plan.shape == shape; });
    const auto number = static_cast<std::size_t>(found - plans_.begin());
    if (found != plans_.end()) return number;
    const AttentionCall copy = copied(shape);
    AttentionCall gradients = copy;
    if (q_apart_) gradients.q = shape.q;
    if (kv_apart_) gradients.kv = shape.kv;
    try {
      plans_.push_back(
          {shape, false, CudnnSdpa(shape, gradients, work_.head_dim, work_.dtype, work_.mask), {}});
    } catch (const cuda::CudaError&) {
      throw;  // the device is lost
    } catch (const std::runtime_error&) {
      if (copy == shape) throw;
      plans_.push_back({shape, true, CudnnSdpa(copy, copy, work_.head_dim, work_.dtype, work_.mask), {}});
    }
    return number;
  }

  static void grow(std::size_t& bytes, std::int64_t wanted) {
    bytes = std::max(bytes, static_cast<std::size_t>(wanted));
  }

  void allocate_buffers() {
    std::size_t q = 0, kv = 0, d_q = 0, d_kv = 0, lse = 0;
    for (const Plan& plan : plans_) {
      const std::int64_t queries = count_of(query_counts(plan.shape)),
                         keys = count_of(key_counts(plan.shape));
      grow(lse, queries);
      if (plan.copies) grow(q, queries * row_bytes_), grow(kv, keys * row_bytes_);
      if (plan.copies || !q_apart_) grow(d_q, queries * row_bytes_);
      if (plan.copies || !kv_apart_) grow(d_kv, keys * row_bytes_);
    }
    for (DeviceMemory<std::byte>* copy : {&q_, &o_, &d_o_}) *copy = DeviceMemory<std::byte>(q);
    for (DeviceMemory<std::byte>* copy : {&k_, &v_}) *copy = DeviceMemory<std::byte>(kv);
    part_q_ = DeviceMemory<std::byte>(d_q);
    part_k_ = DeviceMemory<std::byte>(d_kv);
    part_v_ = DeviceMemory<std::byte>(d_kv);
    lse_ = DeviceMemory<float>(lse);
    if (!q_apart_) d_q_ = DeviceMemory<float>(static_cast<std::size_t>(q_rows_ * work_.head_dim));
    if (kv_apart_) return;
    d_k_ = DeviceMemory<float>(static_cast<std::size_t>(kv_rows_ * work_.head_dim));
    d_v_ = DeviceMemory<float>(static_cast<std::size_t>(kv_rows_ * work_.head_dim));
  }

  // For the chosen plans.
  void allocate_workspace() {
    std::int64_t most = 0;
    for (const Plan& plan : plans_)
      most = std::max(most, plan.sdpa.plans()[plan.choice.plan].workspace_bytes);
    workspace_ = {};
    workspace_ = DeviceMemory<std::byte>(static_cast<std::size_t>(most));
  }

  // Where a call reads and writes, after what it reads of copies is copied.
  SdpaRows prepared_rows(std::size_t number, const Operands& operands) const {
    const AttentionCall& call = calls_[number];
    const Plan& plan = plans_[plan_of_[number]];
    const auto read = [&](const void* tensor, const RowStrides& strides, const CallCounts& counts,
                          void* copy) {
      const void* first = static_cast<const std::byte*>(tensor) + strides.first * row_bytes_;
      if (!plan.copies) return first;
      cuda::copy_rows(counts, row_bytes_, first, in_tensor(strides), copy, in_copy(counts), nullptr);
      return static_cast<const void*>(copy);
    };
    const auto write = [&](void* tensor, const RowStrides& strides, bool apart, void* part) {
      if (plan.copies || !apart) return part;
      return static_cast<void*>(static_cast<std::byte*>(tensor) + strides.first * row_bytes_);
    };
    const CallCounts queries = query_counts(call), keys = key_counts(call);
    cuda::copy_rows(queries, sizeof(float), operands.lse + call.q.first, in_tensor(call.q), lse_.data(),
                    {call.heads * call.queries, 1, call.queries}, nullptr);
    return {.q = read(operands.q, call.q, queries, q_.data()),
            .k = read(operands.k, call.kv, keys, k_.data()),
            .v = read(operands.v, call.kv, keys, v_.data()),
            .o = const_cast<void*>(read(operands.o, call.q, queries, o_.data())),
            .lse = lse_.data(),
            .d_o = read(operands.d_o, call.q, queries, d_o_.data()),
            .d_q = write(operands.d_q, call.q, q_apart_, part_q_.data()),
            .d_k = write(operands.d_k, call.kv, kv_apart_, part_k_.data()),
            .d_v = write(operands.d_v, call.kv, kv_apart_, part_v_.data())};
  }

  // Rows that no call writes stay 0.
  void begin(void* gradient, const DeviceMemory<float>& sums, std::int64_t rows, std::int64_t written) const {
    if (sums.size() > 0)
      HILBENCH_CUDA(cudaMemsetAsync(sums.data(), 0, sums.size() * sizeof(float), nullptr));
    else if (written < rows)
      HILBENCH_CUDA(cudaMemsetAsync(gradient, 0, static_cast<std::size_t>(rows * row_bytes_), nullptr));
  }

  void collect(const Plan& plan, const CallCounts& counts, const RowStrides& strides, bool apart,
               const void* part, void* gradient, const DeviceMemory<float>& sums) const {
    const CallRows from = in_copy(counts), to = in_tensor(strides);
    if (!apart)
      cuda::add_rows(counts, work_.head_dim, work_.dtype, part, from,
                     sums.data() + strides.first * work_.head_dim, to, nullptr);
    else if (plan.copies)
      cuda::copy_rows(counts, row_bytes_, part, from,
                      static_cast<std::byte*>(gradient) + strides.first * row_bytes_, to, nullptr);
  }

  void finish(void* gradient, const DeviceMemory<float>& sums, std::int64_t rows) const {
    if (sums.size() > 0) cuda::round_sums(rows * work_.head_dim, work_.dtype, sums.data(), gradient, nullptr);
  }

  Case work_;
  std::int64_t row_bytes_, q_rows_, kv_rows_;
  std::int64_t q_written_ = 0, kv_written_ = 0;  // rows of gradients that calls write
  bool q_apart_ = false, kv_apart_ = false;      // each row of the gradients is in one call alone
  std::vector<AttentionCall> calls_;             // of all branches
  std::vector<std::size_t> plan_of_;             // of each call
  std::vector<Plan> plans_;
  DeviceMemory<std::byte> q_, k_, v_, o_, d_o_;       // copies
  DeviceMemory<std::byte> part_q_, part_k_, part_v_;  // gradients of a call
  DeviceMemory<float> lse_, d_q_, d_k_, d_v_;         // of a call; sums of all calls
  DeviceMemory<std::byte> workspace_;
};

}  // namespace

std::unique_ptr<Execution> cudnn_backward(const Case& work) {
  return std::make_unique<CudnnBackward>(work);
}

// Of a case that cuDNN reads in place, with its own sums of dQ in fp32.
double cudnn_backward_workspace_bytes(const Case& work) {
  const double positions = static_cast<double>(work.batch) * static_cast<double>(work.sequence_length);
  const double q_rows = positions * static_cast<double>(work.heads);
  const double kv_rows = positions * static_cast<double>(work.kv_heads);
  const double head_dim = static_cast<double>(work.head_dim),
               element = static_cast<double>(dtype_bytes(work.dtype));
  double bytes = q_rows * (4 + 4 * head_dim);
  if (merges(work)) bytes += q_rows * head_dim * (4 + element);
  if (work.pattern.size() > 1) bytes += 2 * kv_rows * head_dim * (4 + element);
  return bytes;
}

}  // namespace hilbench
