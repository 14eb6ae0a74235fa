// Moves whole rows by a table of slots. A block moves the rows of a few consecutive positions, about
// kBlockWords words in all; each thread starts kInFlight loads before its first store.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/shared/permute.hpp"

namespace hilbench::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kInFlight = 4;
constexpr int kBlockWords = kThreads * kInFlight;

struct Params {
  const void* from;
  void* to;
  const std::int32_t* slots;
  std::int64_t rows;
  std::int64_t row_words;
  unsigned block_rows;  // positions of a block
  unsigned groups;      // blocks of a batch entry
  RowMove move;
};

template <typename Word>
__global__ void __launch_bounds__(kThreads) permute(const Params params) {
  const std::int64_t batch = blockIdx.x / params.groups;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x % params.groups) * params.block_rows;
  const std::int64_t left = params.rows - first;
  const std::int64_t block_rows = left < params.block_rows ? left : params.block_rows;
  const std::int64_t words = block_rows * params.row_words;
  const Word* const from = static_cast<const Word*>(params.from) + batch * params.rows * params.row_words;
  Word* const to = static_cast<Word*>(params.to) + batch * params.rows * params.row_words;
  const auto row_words = static_cast<unsigned>(params.row_words);

  for (std::int64_t begin = threadIdx.x; begin < words; begin += kBlockWords) {
    Word held[kInFlight];
    std::int64_t target[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const std::int64_t word = begin + i * kThreads;
      target[i] = -1;
      if (word >= words) continue;
      // A block has one row, or few words in all: in both cases the quotient fits 32 bits.
      const unsigned row = params.block_rows == 1 ? 0 : static_cast<unsigned>(word) / row_words;
      const std::int64_t column = word - row * params.row_words;
      const std::int64_t at_position = (first + row) * params.row_words + column;
      const std::int64_t at_slot = params.slots[first + row] * params.row_words + column;
      held[i] = from[params.move == RowMove::to_slots ? at_position : at_slot];
      target[i] = params.move == RowMove::to_slots ? at_slot : at_position;
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i)
      if (target[i] >= 0) to[target[i]] = held[i];
  }
}

template <typename Word>
void launch(Params params, std::int64_t batch, std::int64_t row_bytes, cudaStream_t stream) {
  params.row_words = row_bytes / static_cast<std::int64_t>(sizeof(Word));
  const std::int64_t block_rows = std::max<std::int64_t>(1, kBlockWords / params.row_words);
  const std::int64_t groups = (params.rows + block_rows - 1) / block_rows;
  params.block_rows = static_cast<unsigned>(block_rows);
  params.groups = static_cast<unsigned>(groups);
  permute<Word><<<static_cast<unsigned>(groups * batch), kThreads, 0, stream>>>(params);
  HILBENCH_CUDA(cudaGetLastError());
}

}  // namespace

void permute_rows(const void* from, void* to, std::int64_t batch, std::int64_t rows,
                  const std::int32_t* slots, std::int64_t row_bytes, RowMove move, cudaStream_t stream) {
  if (row_bytes <= 0 || row_bytes % 4 != 0)
    throw std::invalid_argument("permute_rows: a row of " + std::to_string(row_bytes) + " bytes");
  if (batch == 0 || rows == 0) return;
  const Params params = {from, to, slots, rows, 0, 0, 0, move};
  const auto low_bits = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(from) |
                                                  reinterpret_cast<std::uintptr_t>(to)) |
                        row_bytes;
  if (low_bits % 16 == 0) {
    launch<uint4>(params, batch, row_bytes, stream);
  } else if (low_bits % 8 == 0) {
    launch<uint2>(params, batch, row_bytes, stream);
  } else {
    launch<unsigned>(params, batch, row_bytes, stream);
  }
}

}  // namespace hilbench::cuda
