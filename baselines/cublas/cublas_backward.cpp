// For one block of query rows after another: S = Q K^T and dP = dO V^T by cuBLAS in fp32, P = exp(S - LSE)
// and dS = P (dP - D) in the case's dtype, then dV += P^T dO, dK += dS^T Q and dQ += dS K by cuBLAS in fp32.
// The LSE of all branches is given, so branches, and heads that share a K/V head, only add up. Gradients of
// 16 bits are rounded once, at the end.
#include "baselines/cublas/cublas_backward.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "baselines/branches/attention_calls.hpp"
#include "baselines/branches/branch_rows.hpp"
#include "baselines/cublas/cublas_library.hpp"
#include "baselines/cublas/cublas_softmax.hpp"
#include "baselines/cublas/score_blocks.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/status.hpp"

namespace hilbench {
namespace {

using cuda::DeviceMemory;

// A matrix as cuBLAS sees it, column-major: a row-major one is its transpose.
struct Matrix {
  const void* data = nullptr;
  cudaDataType_t type = CUDA_R_32F;
  std::int64_t leading = 0, step = 0;  // from column to column, and from problem to problem
  cublasOperation_t is = CUBLAS_OP_N;
};

Matrix transposed(Matrix matrix) {
  matrix.is = CUBLAS_OP_T;
  return matrix;
}

class CublasBackward final : public Execution {
 public:
  explicit CublasBackward(const Case& work)
      : work_(work),
        handle_(make_cublas_handle()),
        q_rows_(work.batch * work.sequence_length * work.heads),
        kv_rows_(work.batch * work.sequence_length * work.kv_heads),
        delta_(static_cast<std::size_t>(q_rows_)),
        scores_(block_bytes(sizeof(float))),
        d_p_(block_bytes(sizeof(float))) {
    for (std::size_t b = 0; b < work.pattern.size(); ++b)
      for (const AttentionCall& call :
           attention_calls(work, static_cast<std::int64_t>(b), RowStorage::in_place))
        calls_.push_back(call);
    if (work.dtype == Dtype::fp32) return;
    p_ = DeviceMemory<std::byte>(block_bytes(dtype_bytes(work.dtype)));
    d_s_ = DeviceMemory<std::byte>(block_bytes(dtype_bytes(work.dtype)));
    d_q_ = DeviceMemory<float>(elements(q_rows_));
    d_k_ = DeviceMemory<float>(elements(kv_rows_));
    d_v_ = DeviceMemory<float>(elements(kv_rows_));
  }

  void run(const Operands& operands, const Index&) override {
    const bool rounds = work_.dtype != Dtype::fp32;
    const Sums sums{rounds ? d_q_.data() : static_cast<float*>(operands.d_q),
                    rounds ? d_k_.data() : static_cast<float*>(operands.d_k),
                    rounds ? d_v_.data() : static_cast<float*>(operands.d_v)};
    clear(sums.d_q, q_rows_);
    clear(sums.d_k, kv_rows_);
    clear(sums.d_v, kv_rows_);
    cuda::row_dots(q_rows_, work_.head_dim, work_.dtype, operands.d_o, operands.o, delta_.data(), nullptr);
    for (const AttentionCall& call : calls_)
      for_each_block(call, work_, sizeof(float),
                     [&](const Batch& block, std::int64_t row) { add_block(block, row, operands, sums); });
    if (!rounds) return;
    round(sums.d_q, operands.d_q, q_rows_);
    round(sums.d_k, operands.d_k, kv_rows_);
    round(sums.d_v, operands.d_v, kv_rows_);
  }

 private:
  struct Sums {
    float *d_q, *d_k, *d_v;
  };

  std::size_t block_bytes(std::int64_t score_bytes) const {
    const double scores = largest_block_bytes(work_, sizeof(float)) / sizeof(float);
    return static_cast<std::size_t>(scores * static_cast<double>(score_bytes));
  }
  std::size_t elements(std::int64_t rows) const { return static_cast<std::size_t>(rows * work_.head_dim); }
  void clear(float* sums, std::int64_t rows) const {
    HILBENCH_CUDA(cudaMemsetAsync(sums, 0, elements(rows) * sizeof(float), nullptr));
  }
  void round(const float* sums, void* to, std::int64_t rows) const {
    cuda::round_sums(rows * work_.head_dim, work_.dtype, sums, to, nullptr);
  }

  void add_block(const Batch& batch, std::int64_t first_row, const Operands& operands,
                 const Sums& sums) const {
    const std::int64_t leading = leading_of(batch.keys, work_.dtype), d = work_.head_dim;
    const float scale = 1 / std::sqrt(static_cast<float>(d));
    const bool narrow = work_.dtype != Dtype::fp32;
    void *const p = narrow ? p_.data() : scores_.data(), *const d_s = narrow ? d_s_.data() : d_p_.data();
    const cudaDataType_t type = cublas_type(work_.dtype);
    const std::int64_t matrix = batch.queries * leading;
    const auto of_queries = [&](const void* data, cudaDataType_t of) {
      return Matrix{row(data, batch.q, of), of, batch.q_row * d, batch.q_step * d};
    };
    const auto of_keys = [&](const void* data, cudaDataType_t of) {
      return Matrix{row(data, batch.kv, of), of, batch.kv_row * d, batch.kv_step * d};
    };
    const Matrix q = of_queries(operands.q, type), d_o = of_queries(operands.d_o, type);
    const Matrix k = of_keys(operands.k, type), v = of_keys(operands.v, type);
    const Matrix scores{scores_.data(), CUDA_R_32F, leading, matrix};
    const Matrix d_p{d_p_.data(), CUDA_R_32F, leading, matrix};
    const Matrix p_of{p, type, leading, matrix}, d_s_of{d_s, type, leading, matrix};
    multiply(batch, {batch.keys, batch.queries, d}, scale, transposed(k), q, 0, scores);
    multiply(batch, {batch.keys, batch.queries, d}, 1, transposed(v), d_o, 0, d_p);

    cuda::GradientBlock block;
    block.scores = reinterpret_cast<const float*>(scores_.data());
    block.d_p = reinterpret_cast<const float*>(d_p_.data());
    block.p = p;
    block.d_s = d_s;
    block.dtype = work_.dtype;
    block.problems = static_cast<std::int32_t>(batch.count);
    block.rows = static_cast<std::int32_t>(batch.queries);
    block.columns = static_cast<std::int32_t>(batch.keys);
    block.leading = leading;
    block.causal = work_.mask == Mask::causal ? 1 : 0;
    block.first_row = static_cast<std::int32_t>(first_row);
    block.lse = operands.lse + batch.q;
    block.delta = delta_.data() + batch.q;
    block.row_problem = batch.q_step;
    block.row_step = batch.q_row;
    cuda::softmax_gradients(block, nullptr);

    multiply(batch, {d, batch.keys, batch.queries}, 1, d_o, transposed(p_of), 1,
             of_keys(sums.d_v, CUDA_R_32F));
    multiply(batch, {d, batch.keys, batch.queries}, scale, q, transposed(d_s_of), 1,
             of_keys(sums.d_k, CUDA_R_32F));
    multiply(batch, {d, batch.queries, batch.keys}, scale, k, d_s_of, 1, of_queries(sums.d_q, CUDA_R_32F));
  }

  struct Shape {
    std::int64_t m, n, k;
  };
  // C[m, n] = alpha A[m, k] B[k, n] + beta C in column-major order, for every problem of the batch.
  void multiply(const Batch& batch, const Shape& shape, float alpha, const Matrix& a, const Matrix& b,
                float beta, const Matrix& c) const {
    const auto narrowed = [](std::int64_t value) { return static_cast<int>(value); };
    check_cublas(cublas().gemm(handle_.get(), a.is, b.is, narrowed(shape.m), narrowed(shape.n),
                               narrowed(shape.k), &alpha, a.data, a.type, narrowed(a.leading), a.step, b.data,
                               b.type, narrowed(b.leading), b.step, &beta, const_cast<void*>(c.data), c.type,
                               narrowed(c.leading), c.step, narrowed(batch.count), CUBLAS_COMPUTE_32F,
                               CUBLAS_GEMM_DEFAULT),
                 "cublasGemmStridedBatchedEx");
  }

  const void* row(const void* tensor, std::int64_t number, cudaDataType_t type) const {
    const std::int64_t bytes = type == CUDA_R_32F ? 4 : 2;
    return static_cast<const std::byte*>(tensor) + number * work_.head_dim * bytes;
  }

  Case work_;
  CublasHandle handle_;
  std::int64_t q_rows_, kv_rows_;
  DeviceMemory<float> delta_;                       // D, like lse
  DeviceMemory<std::byte> scores_, d_p_, p_, d_s_;  // of a block; the last two of 16 bits alone
  DeviceMemory<float> d_q_, d_k_, d_v_;             // of 16 bits alone
  std::vector<AttentionCall> calls_;                // of all branches
};

}  // namespace

std::unique_ptr<Execution> cublas_backward(const Case& work) {
  return std::make_unique<CublasBackward>(work);
}

double cublas_backward_workspace_bytes(const Case& work) {
  const double positions = static_cast<double>(work.batch) * static_cast<double>(work.sequence_length);
  const double q_rows = positions * static_cast<double>(work.heads);
  const double kv_rows = positions * static_cast<double>(work.kv_heads);
  const double scores = largest_block_bytes(work, sizeof(float));
  if (work.dtype == Dtype::fp32) return 4 * q_rows + 2 * scores;
  return 4 * q_rows + 3 * scores + 4 * static_cast<double>(work.head_dim) * (q_rows + 2 * kv_rows);
}

}  // namespace hilbench
