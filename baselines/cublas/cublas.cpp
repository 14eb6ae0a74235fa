// Unfused attention: scores = Q K^T by cuBLAS, softmax, O = P V by cuBLAS, for one block of query rows after
// another, so that the scores fit a bounded workspace. Scores and probabilities have the case's dtype;
// products are summed in fp32 (without TF32). Dilated rows are read in place: a stream of a head is a matrix
// with leading dimension dilation * heads * head_dim. Several branches are computed one after another and
// combined by their softmax denominators. Not handled: backward, a causal mask with dense queries and a
// dilation, more than one rank.
#include "baselines/cublas/cublas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "baselines/branches/attention_calls.hpp"
#include "baselines/branches/branch_results.hpp"
#include "baselines/cublas/cublas_library.hpp"
#include "baselines/cublas/cublas_softmax.hpp"
#include "kernels/case/pattern.hpp"

namespace hilbench {
namespace {

constexpr std::int64_t kScoreBytes = std::int64_t{512} << 20;  // most bytes of one block
constexpr std::int64_t kMinRows = 128;                         // fewest query rows of a block
constexpr std::int64_t kCausalBlocks = 8;  // of a causal triangle: 1/16 of its products is masked

cudaDataType_t data_type(Dtype dtype) {
  if (dtype == Dtype::fp32) return CUDA_R_32F;
  return dtype == Dtype::bf16 ? CUDA_R_16BF : CUDA_R_16F;
}

// Elements from one row of scores to the next. Rows begin at multiples of 16 bytes.
std::int64_t leading_of(std::int64_t keys, Dtype dtype) {
  const std::int64_t step = 16 / dtype_bytes(dtype);
  return (keys + step - 1) / step * step;
}

// Query rows and problems of a block of scores.
struct BlockShape {
  std::int64_t rows = 0, problems = 0;
};
BlockShape block_shape(const AttentionCall& call, std::int64_t problems, const Case& work) {
  const std::int64_t in_budget = kScoreBytes / (leading_of(call.keys, work.dtype) * dtype_bytes(work.dtype));
  std::int64_t rows = call.queries;
  if (work.mask == Mask::causal)
    rows = std::min(rows, (call.queries / kCausalBlocks / kMinRows + 1) * kMinRows);
  if (in_budget >= rows) return {rows, std::min(problems, in_budget / rows)};
  return {std::min(rows, std::max(kMinRows, in_budget / kMinRows * kMinRows)), 1};
}

// The larger of a call's two dimensions becomes the batch of the products, the other one a loop.
bool batch_is_outer(const AttentionCall& call) {
  return call.outer >= call.kv_heads;
}

std::vector<RowStorage> in_place(const Case& work) {
  return std::vector<RowStorage>(work.pattern.size(), RowStorage::in_place);
}

// Bytes of the largest block that block_shape returns. A double, because a plan may ask for any size.
double score_bytes(const Case& work) {
  double most = 0;
  for (const Branch& branch : work.pattern) {
    const std::int64_t keys = gathered_rows(work, branch);
    const auto queries = static_cast<double>(
        work.queries == Queries::dense ? std::min(branch.segment_length, work.sequence_length) : keys);
    const double row = static_cast<double>(leading_of(keys, work.dtype) * dtype_bytes(work.dtype));
    const double problems =
        std::max(static_cast<double>(work.batch) * static_cast<double>(segment_count(work, branch)),
                 static_cast<double>(work.kv_heads));
    const double block =
        std::max(static_cast<double>(kScoreBytes), std::min(queries, static_cast<double>(kMinRows)) * row);
    most = std::max(most, std::min(problems * queries * row, block));
  }
  return most;
}

// Problems that are a fixed distance apart in each tensor, in rows of head_dim elements as in RowStrides.
struct Batch {
  std::int64_t count = 0;
  std::int64_t q = 0, kv = 0;            // first rows
  std::int64_t q_step = 0, kv_step = 0;  // from problem to problem
  std::int64_t q_row = 0, kv_row = 0;    // from row to row
  std::int64_t queries = 0, keys = 0;
};

std::vector<Batch> batches_of(const AttentionCall& call) {
  const std::int64_t members = call.heads / call.kv_heads;
  std::vector<Batch> batches;
  const auto add = [&](std::int64_t outer, std::int64_t head) {
    Batch batch{.q = call.q.first + outer * call.q.outer + head * call.q.head,
                .kv = call.kv.first + outer * call.kv.outer + head / members * call.kv.head,
                .q_row = call.q.row,
                .kv_row = call.kv.row,
                .queries = call.queries,
                .keys = call.keys};
    const bool outer_batch = batch_is_outer(call);
    batch.count = outer_batch ? call.outer : call.kv_heads;
    batch.q_step = outer_batch ? call.q.outer : call.q.head * members;
    batch.kv_step = outer_batch ? call.kv.outer : call.kv.head;
    batches.push_back(batch);
  };
  if (batch_is_outer(call))
    for (std::int64_t head = 0; head < call.heads; ++head) add(0, head);
  else
    for (std::int64_t outer = 0; outer < call.outer; ++outer)
      for (std::int64_t member = 0; member < members; ++member) add(outer, member);
  return batches;
}

class CublasExecution : public Execution {
 public:
  explicit CublasExecution(const Case& work)
      : work_(work),
        handle_(make_cublas_handle()),
        results_(work, in_place(work)),
        scores_(static_cast<std::size_t>(score_bytes(work))) {
    for (std::size_t b = 0; b < work.pattern.size(); ++b)
      calls_.push_back(attention_calls(work, static_cast<std::int64_t>(b), RowStorage::in_place));
  }

  void run(const Operands& operands, const Index&) override {
    for (std::size_t b = 0; b < calls_.size(); ++b) {
      const Operands of_branch{operands.q, operands.k, operands.v, results_.o(b, operands),
                               results_.lse(b, operands)};
      for (const AttentionCall& call : calls_[b]) attend(call, of_branch);
    }
    results_.finish(operands, nullptr);
  }

 private:
  void attend(const AttentionCall& call, const Operands& operands) {
    const BlockShape block = block_shape(call, batch_is_outer(call) ? call.outer : call.kv_heads, work_);
    for (const Batch& batch : batches_of(call))
      for (std::int64_t problem = 0; problem < batch.count; problem += block.problems)
        for (std::int64_t row = 0; row < batch.queries; row += block.rows) {
          Batch part = batch;
          part.count = std::min(block.problems, batch.count - problem);
          part.q += problem * batch.q_step + row * batch.q_row;
          part.kv += problem * batch.kv_step;
          part.queries = std::min(block.rows, batch.queries - row);
          if (work_.mask == Mask::causal) part.keys = std::min(batch.keys, row + part.queries);
          attend_block(part, row, operands);
        }
  }

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
    const cudaDataType_t type = data_type(work_.dtype);
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
  if (work.pass != Pass::forward) return "cublas computes the forward pass only";
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
          return cuda::BranchResults::workspace_bytes(work, in_place(work)) + score_bytes(work);
        },
    .prepare = [](const Case& work, const KernelChoice&, int) -> std::unique_ptr<Execution> {
      return std::make_unique<CublasExecution>(work);
    },
    .library = library,
};

}  // namespace hilbench
