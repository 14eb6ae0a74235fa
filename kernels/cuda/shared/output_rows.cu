// Each thread writes 16 bytes at a time; neighbouring threads write along a row, and a
// block has several rows.
#include <algorithm>
#include <limits>
#include <stdexcept>

#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/shared/element.cuh"
#include "kernels/cuda/shared/output_rows.hpp"
#include "kernels/index/row_writes.hpp"

namespace hilbench::cuda {
namespace {

constexpr int kThreads = 256;

// Calls visit(row of O, counted over batch, rows and heads; what the launches do to it).
template <class Visit>
__device__ __forceinline__ void visit_row(const ForwardShape& shape, const std::uint8_t* row_writes,
                                          const Visit& visit) {
  const std::int64_t rows = static_cast<std::int64_t>(shape.sequence) * shape.heads;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const auto writes = static_cast<RowWrites>(row_writes[row]);
  for (std::int64_t batch = blockIdx.y; batch < shape.batch; batch += gridDim.y)
    visit(batch * rows + row, writes);
}

__global__ void __launch_bounds__(kThreads)
    clear_output_rows(const ForwardShape shape, const OutputRows rows, int element_bytes) {
  visit_row(shape, rows.row_writes, [&](std::int64_t row, RowWrites writes) {
    if (writes == RowWrites::stored) return;
    const bool wide = writes == RowWrites::merged && rows.o_fp32 != nullptr;
    const int words = shape.head_dim * (wide ? 4 : element_bytes) / 16;
    uint4* const o = static_cast<uint4*>(wide ? rows.o_fp32 : rows.o) + row * words;
    for (int word = threadIdx.x; word < words; word += blockDim.x) o[word] = uint4();
    if (threadIdx.x == 0) rows.lse[row] = -std::numeric_limits<float>::infinity();
  });
}

template <class T>
struct alignas(16) Eight {
  T values[8];
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    round_output_rows(const ForwardShape shape, const OutputRows rows) {
  visit_row(shape, rows.row_writes, [&](std::int64_t row, RowWrites writes) {
    if (writes == RowWrites::untouched) return;
    const int words = shape.head_dim / 8;
    const auto* from = reinterpret_cast<const Eight<float>*>(rows.o_fp32) + row * words;
    auto* to = static_cast<Eight<T>*>(rows.o) + row * words;
    for (int word = threadIdx.x; word < words; word += blockDim.x) {
      const Eight<float> wide = from[word];
      Eight<T> rounded;
#pragma unroll
      for (int i = 0; i < 8; ++i) rounded.values[i] = narrow<T>(wide.values[i]);
      to[word] = rounded;
    }
  });
}

struct Grid {
  dim3 blocks, threads;
};

// For rows of `words` words.
Grid grid_for(const ForwardShape& shape, int words) {
  constexpr int kMaxGridY = 65535;
  unsigned width = 1;
  while (width < 32 && width < static_cast<unsigned>(words)) width *= 2;
  const unsigned height = kThreads / width;
  const std::int64_t rows = static_cast<std::int64_t>(shape.sequence) * shape.heads;
  return {dim3(static_cast<unsigned>((rows + height - 1) / height), std::min(shape.batch, kMaxGridY)),
          dim3(width, height)};
}

}  // namespace

void clear_rows(const ForwardShape& shape, const OutputRows& rows, cudaStream_t stream) {
  const int element_bytes = shape.dtype == Dtype::fp32 ? 4 : 2;
  const Grid grid = grid_for(shape, shape.head_dim * (rows.o_fp32 != nullptr ? 4 : element_bytes) / 16);
  clear_output_rows<<<grid.blocks, grid.threads, 0, stream>>>(shape, rows, element_bytes);
  HILBENCH_CUDA(cudaGetLastError());
}

void round_rows(const ForwardShape& shape, const OutputRows& rows, cudaStream_t stream) {
  const Grid grid = grid_for(shape, shape.head_dim / 8);
  switch (shape.dtype) {
    case Dtype::bf16:
      round_output_rows<__nv_bfloat16><<<grid.blocks, grid.threads, 0, stream>>>(shape, rows);
      break;
    case Dtype::fp16:
      round_output_rows<__half><<<grid.blocks, grid.threads, 0, stream>>>(shape, rows);
      break;
    default:
      throw std::invalid_argument("round_rows: fp32 needs no rounding");
  }
  HILBENCH_CUDA(cudaGetLastError());
}

}  // namespace hilbench::cuda
