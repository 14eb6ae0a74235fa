// Copies rows of K and V by one table of slots per class of heads. A block writes a few consecutive rows of
// one result, about kBlockWords words in all; each thread starts kInFlight loads before its first store. Both
// tensors take one launch: what waits for the rows waits for one end of a grid.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/shared/pack.hpp"

namespace hilbench::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kInFlight = 4;
constexpr int kBlockWords = kThreads * kInFlight;

struct Params {
  PackedTensor k, v;
  PackTables tables;
  std::int64_t from_rows;
  unsigned head_words;
  unsigned row_words;
  unsigned block_rows;  // rows of a block
  unsigned groups;      // blocks of a batch entry
};

// Where the result has word `word` of a block, which begins with row `first` of the batch entry.
__device__ __forceinline__ std::int64_t word_of(const Params& p, std::int64_t first, unsigned word) {
  if (!p.tables.heads_first) return first * p.row_words + word;
  const unsigned row = word / p.row_words, column = word - row * p.row_words;
  const unsigned head = column / p.head_words;
  return (head * p.tables.rows + first + row) * p.head_words + (column - head * p.head_words);
}

__global__ void __launch_bounds__(kThreads) pack(const Params p) {
  const std::int64_t batch = blockIdx.x / p.groups;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x % p.groups) * p.block_rows;
  const std::int64_t left = p.tables.rows - first;
  const unsigned words = static_cast<unsigned>(left < p.block_rows ? left : p.block_rows) * p.row_words;
  const PackedTensor& tensor = blockIdx.y == 0 ? p.k : p.v;
  const uint4* const from = static_cast<const uint4*>(tensor.from) + batch * p.from_rows * p.row_words;
  uint4* const to = static_cast<uint4*>(tensor.to) + batch * p.tables.rows * p.row_words;
  for (unsigned begin = threadIdx.x; begin < words; begin += kBlockWords) {
    uint4 held[kInFlight];
    bool taken[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const unsigned word = begin + i * kThreads;
      taken[i] = word < words;
      if (!taken[i]) continue;
      const unsigned row = word / p.row_words, column = word - row * p.row_words;
      const std::int32_t heads = p.tables.class_of_head[column / p.head_words];
      const std::int32_t slot = p.tables.slots[heads * p.tables.rows + first + row];
      taken[i] = slot >= 0;
      if (taken[i]) held[i] = from[static_cast<std::int64_t>(slot) * p.row_words + column];
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i)
      if (taken[i]) to[word_of(p, first, begin + i * kThreads)] = held[i];
  }
}

}  // namespace

void pack_rows(const PackedTensor& k, const PackedTensor& v, std::int64_t batch, std::int64_t from_rows,
               const PackTables& tables, std::int64_t head_bytes, cudaStream_t stream) {
  constexpr std::int64_t kWordBytes = sizeof(uint4);
  if (head_bytes <= 0 || head_bytes % kWordBytes != 0)
    throw std::invalid_argument("pack_rows: heads of " + std::to_string(head_bytes) + " bytes");
  if (batch == 0 || tables.rows == 0) return;
  const std::int64_t head_words = head_bytes / kWordBytes, row_words = head_words * tables.heads;
  const std::int64_t block_rows = std::max<std::int64_t>(1, kBlockWords / row_words);
  const std::int64_t groups = (tables.rows + block_rows - 1) / block_rows;
  const Params params = {k,
                         v,
                         tables,
                         from_rows,
                         static_cast<unsigned>(head_words),
                         static_cast<unsigned>(row_words),
                         static_cast<unsigned>(block_rows),
                         static_cast<unsigned>(groups)};
  pack<<<dim3(static_cast<unsigned>(groups * batch), 2), kThreads, 0, stream>>>(params);
  HILBENCH_CUDA(cudaGetLastError());
}

}  // namespace hilbench::cuda
