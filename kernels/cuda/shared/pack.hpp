// Collects the rows of a shard's K and V that are sent. C++17 and no fmt.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace hilbench::cuda {

// Which rows each head takes, in device memory.
struct PackTables {
  const std::int32_t* slots = nullptr;          // [classes, rows] of `from`; -1: `to` keeps its row
  const std::int32_t* class_of_head = nullptr;  // [heads]
  std::int64_t rows = 0;
  std::int32_t heads = 0;
  bool heads_first = false;  // `to` is [batch, heads, rows, head_bytes]
};

struct PackedTensor {
  const void* from = nullptr;
  void* to = nullptr;
};

// For K and V: to[b, i, h] = from[b, slots[class_of_head[h], i], h], bit for bit; from [batch, from_rows,
// heads, head_bytes], to [batch, rows, heads, head_bytes] unless heads_first. head_bytes and all addresses
// are multiples of 16. Enqueues one launch. Throws std::invalid_argument if head_bytes is no such multiple,
// CudaError if the launch is refused.
void pack_rows(const PackedTensor& k, const PackedTensor& v, std::int64_t batch, std::int64_t from_rows,
               const PackTables& tables, std::int64_t head_bytes, cudaStream_t stream);

}  // namespace hilbench::cuda
