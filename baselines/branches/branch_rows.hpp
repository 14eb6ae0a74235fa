// What the CUDA baselines do before and after a library's attention: gather the selected rows of a branch,
// and bring branches back to position order. C++17 and no fmt.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/shared/forward.hpp"

namespace hilbench::cuda {

// The rows that a branch selects. Gathered, they are [batch, segments, rows, heads].
struct BranchRows {
  std::int32_t segment_length = 0;  // at most the length of the sequence
  std::int32_t dilation = 1;
  std::int32_t dense = 0;  // 1: every position of a segment that has a key is a query
  std::int32_t segments = 0;
  std::int32_t rows = 0;                  // of a gathered segment
  const std::int32_t* offsets = nullptr;  // [heads]: first position selected in a segment; -1: head not run
};

struct RowTensor {
  std::int32_t batch = 0;
  std::int32_t sequence = 0;
  std::int32_t heads = 0;
  std::int32_t head_dim = 0;
  Dtype dtype = Dtype::fp32;
};

// to[batch, segment, row, head] = from[batch, position, head] for every selected row. Other rows of `to`
// do not change.
void gather_rows(const RowTensor& tensor, const BranchRows& branch, const void* from, void* to,
                 cudaStream_t stream);

// The result of one branch: o in the tensor's dtype, lse in fp32.
struct BranchOutput {
  BranchRows rows;
  std::int32_t gathered = 0;  // 1: o and lse are gathered; 0: in position order
  const void* o = nullptr;
  const float* lse = nullptr;
};

// O = 0 and LSE = -infinity in the rows that `branch` does not cover.
void clear_uncovered_rows(const RowTensor& tensor, const BranchRows& branch, void* o, float* lse,
                          cudaStream_t stream);

constexpr std::int32_t kMaxBranches = 32;  // limited because they are passed as a kernel argument

struct BranchOutputs {
  BranchOutput at[kMaxBranches];
  std::int32_t count = 0;
};

// Computes every row of o and lse from its branches, weighted by their softmax denominators in fp32 (LongNet,
// arXiv 2307.02486, Eqs. 9-10). The o of a branch that is not gathered may be `o` itself; the lse of a branch
// must not be `lse`.
void combine_branches(const RowTensor& tensor, const BranchOutputs& branches, void* o, float* lse,
                      cudaStream_t stream);

// Rows of a call (attention_calls.hpp): row (outer i, index j, head h) is at i * outer + j * row + h * head,
// counted in rows.
struct CallRows {
  std::int64_t outer = 0, row = 0, head = 0;
};
struct CallCounts {
  std::int64_t outer = 0, rows = 0, heads = 0;
};

// `to` and `from` begin at the first row. row_bytes is a multiple of 4, and of 16 if both tensors are
// aligned so.
void copy_rows(const CallCounts& counts, std::int64_t row_bytes, const void* from, const CallRows& from_rows,
               void* to, const CallRows& to_rows, cudaStream_t stream);
// sums += rows of `dtype`, of a multiple of 16 bytes. No row of `sums` is there twice.
void add_rows(const CallCounts& counts, std::int64_t head_dim, Dtype dtype, const void* rows,
              const CallRows& rows_at, float* sums, const CallRows& sums_at, cudaStream_t stream);
// to = sums in `dtype`, to nearest.
void round_sums(std::int64_t count, Dtype dtype, const float* sums, void* to, cudaStream_t stream);

}  // namespace hilbench::cuda
