// Unfused attention: scores = Q K^T by cuBLAS, softmax, O = P V by cuBLAS, for one block of query rows after
// another, so that the scores fit a bounded workspace. Scores and probabilities have the case's dtype;
// products are summed in fp32 (without TF32). Dilated rows are read in place: a stream of a head is a matrix
// with leading dimension dilation * heads * head_dim. Several branches are computed one after another and
// combined by their softmax denominators. The backward pass is in cublas_backward.cpp. Not handled: a causal
// mask with dense queries and a dilation, more than one rank.
#include "baselines/cublas/cublas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "baselines/branches/attention_calls.hpp"
#include "baselines/branches/branch_results.hpp"
#include "baselines/cublas/cublas_backward.hpp"
#include "baselines/cublas/cublas_library.hpp"
#include "baselines/cublas/cublas_softmax.hpp"
#include "baselines/cublas/score_blocks.hpp"
#include "kernels/case/pattern.hpp"

namespace hilbench {
namespace {

std::vector<RowStorage> in_place(const Case& work) {
  return std::vector<RowStorage>(work.pattern.size(), RowStorage::in_place);
}

class CublasExecution : public Execution {
 public:
  explicit CublasExecution(const Case& work)
      : work_(work),
        handle_(make_cublas_handle()),
        results_(work, in_place(work)),
        scores_(static_cast<std::size_t>(largest_block_bytes(work, dtype_bytes(work.dtype)))) {
    for (std::size_t b = 0; b < work.pattern.size(); ++b)
      calls_.push_back(attention_calls(work, static_cast<std::int64_t>(b), RowStorage::in_place));
  }

  void run(const Operands& operands, const Index&) override {
    for (std::size_t b = 0; b < calls_.size(); ++b) {
      const Operands of_branch{operands.q, operands.k, operands.v, results_.o(b, operands),
                               results_.lse(b, operands)};
      for (const AttentionCall& call : calls_[b])
        for_each_block(call, work_, dtype_bytes(work_.dtype),
                       [&](const Batch& block, std::int64_t row) { attend_block(block, row, of_branch); });
    }
    results_.finish(operands, nullptr);
  }

 private:
  void attend_block(const Batch& batch, std::int64_t first_row, const Operands& operands) {
    const std::int64_t leading = leading_of(batch.keys, work_.dtype), d = work_.head_dim;
    const float scale = 1 / std::sqrt(static_cast<float>(d));
    // cuBLAS is column-major, so it sees a row-major matrix as its transpose.
    product(CUBLAS_OP_T, batch.keys, batch.queries, d, scale, at(operands.k, batch.kv), batch.kv_row * d,
            batch.kv_step * d, at(operands.q, batch.q), batch.q_row * d, batch.q_step * d, scores_.data(),
            leading, batch.queries * leading, batch.count);
    cuda::ScoreBlock block;
    block.scores = scores_.data();
    block.dtype = work_.dtype;
    block.problems = static_cast<std::int32_t>(batch.count);
    block.rows = static_cast<std::int32_t>(batch.queries);
    block.columns = static_cast<std::int32_t>(batch.keys);
    block.leading = leading;
    block.causal = work_.mask == Mask::causal ? 1 : 0;
    block.first_row = static_cast<std::int32_t>(first_row);
    block.lse = operands.lse + batch.q;
    block.lse_problem = batch.q_step;
    block.lse_row = batch.q_row;
    cuda::softmax_rows(block, nullptr);
    product(CUBLAS_OP_N, d, batch.queries, batch.keys, 1, at(operands.v, batch.kv), batch.kv_row * d,
            batch.kv_step * d, scores_.data(), leading, batch.queries * leading,
            static_cast<std::byte*>(operands.o) + offset(batch.q), batch.q_row * d, batch.q_step * d,
            batch.count);
  }

  // C[m, n] = alpha * A * B[k, n] in column-major order, for `count` problems; A is [k, m] under OP_T.
  void product(cublasOperation_t a_is, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
               const void* a, std::int64_t lda, std::int64_t a_step, const void* b, std::int64_t ldb,
               std::int64_t b_step, void* c, std::int64_t ldc, std::int64_t c_step, std::int64_t count) {
    const auto narrow = [](std::int64_t value) { return static_cast<int>(value); };
    const cudaDataType_t type = cublas_type(work_.dtype);
    const float beta = 0;
    check_cublas(cublas().gemm(handle_.get(), a_is, CUBLAS_OP_N, narrow(m), narrow(n), narrow(k), &alpha, a,
                               type, narrow(lda), a_step, b, type, narrow(ldb), b_step, &beta, c, type,
                               narrow(ldc), c_step, narrow(count), CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
                 "cublasGemmStridedBatchedEx");
  }

  std::int64_t offset(std::int64_t row) const { return row * work_.head_dim * dtype_bytes(work_.dtype); }
  const void* at(const void* tensor, std::int64_t row) const {
    return static_cast<const std::byte*>(tensor) + offset(row);
  }

  Case work_;
  CublasHandle handle_;
  cuda::BranchResults results_;
  cuda::DeviceMemory<std::byte> scores_;
  std::vector<std::vector<AttentionCall>> calls_;  // of each branch
};

// The largest leading dimension of a tensor. cuBLAS takes it as a 32-bit integer.
double largest_leading(const Case& work) {
  double largest = 0;
  for (const Branch& branch : work.pattern)
    largest = std::max(largest, static_cast<double>(branch.dilation) * static_cast<double>(work.heads) *
                                    static_cast<double>(work.head_dim));
  return largest;
}

Refusal why_not(const Case& work, const Variant&) {
  if (work.ring_size > 1) return "cublas runs on one rank only";
  if (work.pattern.size() > cuda::kMaxBranches)
    return fmt::format("cublas combines at most {} branches", cuda::kMaxBranches);
  const bool dilated = std::any_of(work.pattern.begin(), work.pattern.end(),
                                   [](const Branch& branch) { return branch.dilation > 1; });
  if (work.mask == Mask::causal && work.queries == Queries::dense && dilated)
    return "cublas has no causal mask for dense queries against dilated keys";
  if (largest_leading(work) > std::numeric_limits<int>::max())
    return "dilation * heads * head_dim is above 2^31 - 1, the largest leading dimension of cuBLAS";
  return std::nullopt;
}

Refusal why_not_on(const Gpu&) {
  if (!cublas().absence.empty()) return cublas().absence;
  return std::nullopt;
}

nlohmann::json library() {
  if (!cublas().absence.empty()) return {{"name", "cuBLAS"}, {"note", cublas().absence}};
  return {{"name", "cuBLAS"},
          {"version", cublas_version()},
          {"compute", "CUBLAS_COMPUTE_32F, no TF32"},
          {"scores", "in the case's dtype"},
          {"score_block_bytes", kScoreBytes}};
}

}  // namespace

const Implementation kCublas = {
    .name = "cublas",
    .help = "cuBLAS products around a softmax, dilated rows read in place, merged by LSE",
    .kind = ImplementationKind::baseline,
    .device = DeviceKind::cuda,
    .stores_scores = true,
    .peak_unit = gpu_product_unit,
    .why_not = why_not,
    .why_not_on = why_not_on,
    .workspace_bytes =
        [](const Case& work, int) {
          if (work.pass == Pass::backward) return cublas_backward_workspace_bytes(work);
          return cuda::BranchResults::workspace_bytes(work, in_place(work)) +
                 largest_block_bytes(work, dtype_bytes(work.dtype));
        },
    .prepare = [](const Case& work, const KernelChoice&, int) -> std::unique_ptr<Execution> {
      if (work.pass == Pass::backward) return cublas_backward(work);
      return std::make_unique<CublasExecution>(work);
    },
    .library = library,
};

}  // namespace hilbench
