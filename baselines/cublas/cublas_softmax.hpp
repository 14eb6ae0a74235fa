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

}  // namespace hilbench::cuda
