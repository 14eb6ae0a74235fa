// Softmax of the score matrices of unfused attention. C++17 and no fmt.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/shared/forward.hpp"

namespace hilbench::cuda {

// Scores of `problems` matrices [rows, leading], one after another. Only the first `columns` of a row are
// scores; under a causal mask only the first first_row + row + 1 of these are visible. `leading` is a
// multiple of 16 bytes.
struct ScoreBlock {
  void* scores = nullptr;
  Dtype dtype = Dtype::fp32;
  std::int32_t problems = 0, rows = 0, columns = 0;
  std::int64_t leading = 0;
  std::int32_t causal = 0;
  std::int32_t first_row = 0;
  float* lse = nullptr;  // of problem p, row i: lse[p * lse_problem + i * lse_row]
  std::int64_t lse_problem = 0, lse_row = 0;
};

// Replaces every row by its softmax, with 0 in masked columns. lse gets the natural logarithm of
// the row's denominator.
void softmax_rows(const ScoreBlock& block, cudaStream_t stream);

// What the backward pass makes of a block. Rows of all four matrices are `leading` elements apart, and
// matrices follow each other. lse and delta of problem p, row i are at p * row_problem + i * row_step.
struct GradientBlock {
  const float* scores = nullptr;  // scaled
  const float* d_p = nullptr;
  void* p = nullptr;    // of dtype; may be `scores` if that is fp32
  void* d_s = nullptr;  // the same of d_p
  Dtype dtype = Dtype::fp32;
  std::int32_t problems = 0, rows = 0, columns = 0;
  std::int64_t leading = 0;
  std::int32_t causal = 0;
  std::int32_t first_row = 0;
  const float* lse = nullptr;
  const float* delta = nullptr;
  std::int64_t row_problem = 0, row_step = 0;
};

// P = exp(scores - LSE), and dS = P (dP - D); both 0 in masked columns.
void softmax_gradients(const GradientBlock& block, cudaStream_t stream);
// delta[i] = the sum of a[i] * b[i] over a row of head_dim elements.
void row_dots(std::int64_t rows, std::int64_t head_dim, Dtype dtype, const void* a, const void* b,
              float* delta, cudaStream_t stream);

}  // namespace hilbench::cuda
