// A thread takes 16 bytes of the result, and neighbours follow each other along rows.
#include <limits>
#include <stdexcept>

#include "kernels/cuda/element.cuh"
#include "kernels/cuda/output_rows.hpp"
#include "kernels/cuda/status.hpp"
#include "kernels/row_fate.hpp"

namespace hilbench::cuda {
namespace {

constexpr int kThreads = 256;

struct Place {
  std::int64_t row = 0;  // of O, counted over batch, rows and heads
  int word = 0;          // of 16 bytes in it
  RowFate fate = RowFate::stored;
};

// `words`: of a row. Past the last row: stored, which is left alone.
__device__ __forceinline__ Place place(const ForwardShape& shape, const std::uint8_t* fates, int words) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t row = at / words, rows = static_cast<std::int64_t>(shape.sequence) * shape.heads;
  if (row >= rows * shape.batch) return {-1, 0, RowFate::stored};
  return {row, static_cast<int>(at - row * words), static_cast<RowFate>(fates[row % rows])};
}

__global__ void __launch_bounds__(kThreads)
    clear(const ForwardShape shape, const OutputRows rows, int element_bytes, int words) {
  const Place at = place(shape, rows.fates, words);
  if (at.fate == RowFate::stored) return;
  const bool wide = at.fate == RowFate::merged && rows.o_fp32 != nullptr;
  const int row_words = shape.head_dim * (wide ? 4 : element_bytes) / 16;
  if (at.word >= row_words) return;
  void* const o = wide ? rows.o_fp32 : rows.o;
  static_cast<uint4*>(o)[at.row * row_words + at.word] = uint4();
  if (at.word == 0) rows.lse[at.row] = -std::numeric_limits<float>::infinity();
}

template <class T>
struct alignas(16) Eight {
  T values[8];
};

template <class T>
__global__ void __launch_bounds__(kThreads) round(const ForwardShape shape, const OutputRows rows) {
  const int words = shape.head_dim / 8;
  const Place at = place(shape, rows.fates, words);
  if (at.row < 0 || at.fate == RowFate::untouched) return;
  const std::int64_t word = at.row * words + at.word;
  const Eight<float> wide = reinterpret_cast<const Eight<float>*>(rows.o_fp32)[word];
  Eight<T> rounded;
#pragma unroll
  for (int i = 0; i < 8; ++i) rounded.values[i] = narrow<T>(wide.values[i]);
  static_cast<Eight<T>*>(rows.o)[word] = rounded;
}

unsigned blocks_for(const ForwardShape& shape, int words) {
  const std::int64_t rows = static_cast<std::int64_t>(shape.batch) * shape.sequence * shape.heads;
  return static_cast<unsigned>((rows * words + kThreads - 1) / kThreads);
}

}  // namespace

void clear_rows(const ForwardShape& shape, const OutputRows& rows, cudaStream_t stream) {
  const int element_bytes = shape.element == Element::fp32 ? 4 : 2;
  const int words = shape.head_dim * (rows.o_fp32 != nullptr ? 4 : element_bytes) / 16;
  clear<<<blocks_for(shape, words), kThreads, 0, stream>>>(shape, rows, element_bytes, words);
  HILBENCH_CUDA(cudaGetLastError());
}

void round_rows(const ForwardShape& shape, const OutputRows& rows, cudaStream_t stream) {
  const unsigned blocks = blocks_for(shape, shape.head_dim / 8);
  switch (shape.element) {
    case Element::bf16:
      round<__nv_bfloat16><<<blocks, kThreads, 0, stream>>>(shape, rows);
      break;
    case Element::fp16:
      round<__half><<<blocks, kThreads, 0, stream>>>(shape, rows);
      break;
    default:
      throw std::invalid_argument("round_rows: fp32 needs no rounding");
  }
  HILBENCH_CUDA(cudaGetLastError());
}

}  // namespace hilbench::cuda
