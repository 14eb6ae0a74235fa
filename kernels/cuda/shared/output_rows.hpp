// Rows of O on a ring: clears those that no launch stores, and rounds those that launches have merged. C++17
// and no fmt.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/shared/forward.hpp"

namespace hilbench::cuda {

// O and LSE of shape.batch x shape.sequence rows, and what happens to each row of each head.
struct OutputRows {
  const std::uint8_t* row_writes = nullptr;  // [sequence, heads] RowWrites, in device memory
  void* o = nullptr;                         // elements of the shape's dtype
  float* o_fp32 = nullptr;                   // in which rows merge; null: they merge in o
  float* lse = nullptr;
};

// Sets O = 0 and LSE = -infinity: in o for untouched rows; and, for rows that are merged into before they are
// stored, in the tensor in which rows merge. head_dim is a multiple of 8. Enqueues only. Throws CudaError.
void clear_rows(const ForwardShape& shape, const OutputRows& rows, cudaStream_t stream);
// Rounds o_fp32 to o, to nearest, in all rows except untouched ones. For 16-bit elements.
void round_rows(const ForwardShape& shape, const OutputRows& rows, cudaStream_t stream);

}  // namespace hilbench::cuda
