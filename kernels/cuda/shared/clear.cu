// Two passes over a whole output: one clears the rows that no query of a branch writes, one rounds an fp32
// workspace to the output's dtype. Each thread moves 16 bytes at a time, in the order of memory.
#include <algorithm>
#include <limits>
#include <stdexcept>

#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/shared/element.cuh"
#include "kernels/cuda/shared/forward.hpp"

namespace hilbench::cuda {

namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
constexpr int kThreads = 256;
constexpr int kRun = 16;  // successive positions that a thread of clear_rows() visits

// The rows of all heads at one position are `columns` consecutive words. threadIdx.x and blockIdx.y select
// the word, threadIdx.y and blockIdx.x a run of positions, blockIdx.z the batch entry.
template <class Word>
__global__ void __launch_bounds__(kThreads)
    clear_rows(Word* o, float* lse, const HeadCover* fill, int batches, int sequence, int heads,
               int words_per_row) {
  const int columns = heads * words_per_row;
  const int column = blockIdx.y * blockDim.x + threadIdx.x;
  const int first = (blockIdx.x * blockDim.y + threadIdx.y) * kRun;
  if (column >= columns || first >= sequence) return;
  const int head = column / words_per_row;
  const bool writes_lse = column - head * words_per_row == 0;
  const HeadCover cover = fill[head];
  const int run = min(kRun, sequence - first);
  for (int batch = blockIdx.z; batch < batches; batch += gridDim.z) {
    int in_segment = first % cover.segment_length;
    int phase = in_segment % cover.dilation;
    const std::int64_t row = static_cast<std::int64_t>(batch) * sequence + first;
    Word* target = o + row * columns + column;
    float* target_lse = lse + row * heads + head;
#pragma unroll 4
    for (int i = 0; i < run; ++i) {
      if (phase != cover.offset) {
        *target = Word();
        if (writes_lse) *target_lse = kMinusInfinity;
      }
      target += columns;
      target_lse += heads;
      in_segment = in_segment + 1 == cover.segment_length ? 0 : in_segment + 1;
      phase = phase + 1 == cover.dilation || in_segment == 0 ? 0 : phase + 1;
    }
  }
}

template <class Word>
void launch_clear(const ForwardShape& shape, const ForwardParams& params, int row_bytes,
                  cudaStream_t stream) {
  const int words_per_row = row_bytes / static_cast<int>(sizeof(Word));
  const int columns = shape.heads * words_per_row;
  int width = 32;
  while (width < kThreads && width < columns) width *= 2;
  const dim3 threads(width, kThreads / width);
  const int positions = kThreads / width * kRun;  // of a block
  constexpr int kMaxGridZ = 65535;
  const dim3 blocks((shape.sequence + positions - 1) / positions, (columns + width - 1) / width,
                    std::min(shape.batch, kMaxGridZ));
  clear_rows<<<blocks, threads, 0, stream>>>(static_cast<Word*>(params.o), params.lse, params.fill,
                                             shape.batch, shape.sequence, shape.heads, words_per_row);
  HILBENCH_CUDA(cudaGetLastError());
}

template <class T>
struct alignas(8 * sizeof(T) < 16 ? 8 * sizeof(T) : 16) Eight {
  T values[8];
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    round_elements(const float* source, T* target, std::int64_t count) {
  const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) * 8;
  if (first + 8 <= count) {
    const Eight<float> wide = *reinterpret_cast<const Eight<float>*>(source + first);
    Eight<T> rounded;
#pragma unroll
    for (int i = 0; i < 8; ++i) rounded.values[i] = narrow<T>(wide.values[i]);
    *reinterpret_cast<Eight<T>*>(target + first) = rounded;
  } else {
    for (std::int64_t i = first; i < count; ++i) target[i] = narrow<T>(source[i]);
  }
}

template <class T>
void launch_round(const ForwardShape& shape, const float* source, void* target, cudaStream_t stream) {
  const std::int64_t count =
      static_cast<std::int64_t>(shape.batch) * shape.sequence * shape.heads * shape.head_dim;
  constexpr std::int64_t kPerBlock = kThreads * 8;
  const auto blocks = static_cast<unsigned>((count + kPerBlock - 1) / kPerBlock);
  round_elements<T><<<blocks, kThreads, 0, stream>>>(source, static_cast<T*>(target), count);
  HILBENCH_CUDA(cudaGetLastError());
}

}  // namespace

void clear_uncovered(const ForwardShape& shape, const ForwardParams& params, cudaStream_t stream) {
  const bool wide = params.o_fp32 != 0 || shape.dtype == Dtype::fp32;
  const int row_bytes = shape.head_dim * (wide ? 4 : 2);
  if (row_bytes % 16 == 0) {
    launch_clear<uint4>(shape, params, row_bytes, stream);
  } else if (row_bytes % 4 == 0) {
    launch_clear<std::uint32_t>(shape, params, row_bytes, stream);
  } else {
    launch_clear<std::uint16_t>(shape, params, row_bytes, stream);
  }
}

void round_output(const ForwardShape& shape, const float* o_fp32, void* o, cudaStream_t stream) {
  switch (shape.dtype) {
    case Dtype::fp32:
      return launch_round<float>(shape, o_fp32, o, stream);
    case Dtype::bf16:
      return launch_round<__nv_bfloat16>(shape, o_fp32, o, stream);
    case Dtype::fp16:
      return launch_round<__half>(shape, o_fp32, o, stream);
  }
  throw std::invalid_argument("round_output: unknown element");
}

}  // namespace hilbench::cuda
