// Moves the rows of a tensor into an order and back. C++17 and no fmt.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace hilbench::cuda {

enum class RowMove : std::int32_t {
  to_slots,      // to[b, slots[t]] = from[b, t]
  to_positions,  // to[b, t] = from[b, slots[t]]
};

// Copies the rows of from [batch, rows, row_bytes] to `to` of the same shape, bit for bit. `slots` is a
// permutation of 0 .. rows - 1 in device memory; the tensors do not overlap. row_bytes and both addresses are
// multiples of 4 (of 16 for the full rate). Enqueues only. Throws std::invalid_argument if row_bytes is no
// multiple of 4, CudaError if the launch is refused.
void permute_rows(const void* from, void* to, std::int64_t batch, std::int64_t rows,
                  const std::int32_t* slots, std::int64_t row_bytes, RowMove move, cudaStream_t stream);

}  // namespace hilbench::cuda
