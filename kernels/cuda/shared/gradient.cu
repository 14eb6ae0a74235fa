// Statistics of rows for the backward pass: a warp takes a row.
#include <cmath>
#include <stdexcept>

#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/shared/element.cuh"
#include "kernels/cuda/shared/gradient.hpp"

namespace hilbench::cuda {
namespace {

constexpr int kLanes = 32;
constexpr int kRows = 8;  // of a block
constexpr float kLog2E = 1.4426950408889634f;

template <class T>
struct alignas(8 * sizeof(T) < 16 ? 8 * sizeof(T) : 16) Eight {
  T values[8];
};

template <class T>
__global__ void __launch_bounds__(kLanes* kRows)
    row_statistics(const T* o, const T* d_o, const float* lse, const std::int32_t* q_slots, int sequence,
                   int heads, int head_dim, std::int64_t rows, RowStatistics* to) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRows + threadIdx.y;
  if (row >= rows) return;
  const std::int64_t at = row / heads, batch = at / sequence;
  const auto position = static_cast<int>(at - batch * sequence);
  const int slot = q_slots != nullptr ? q_slots[position] : position;
  const std::int64_t stored = (batch * sequence + slot) * heads + (row - at * heads);
  float delta = 0;
  for (int d = static_cast<int>(threadIdx.x) * 8; d < head_dim; d += kLanes * 8) {
    const auto a = *reinterpret_cast<const Eight<T>*>(o + row * head_dim + d);
    const auto b = *reinterpret_cast<const Eight<T>*>(d_o + stored * head_dim + d);
#pragma unroll
    for (int i = 0; i < 8; ++i) delta = fmaf(widen<T>(a.values[i]), widen<T>(b.values[i]), delta);
  }
#pragma unroll
  for (int lane = kLanes / 2; lane > 0; lane /= 2) delta += __shfl_xor_sync(0xffffffffu, delta, lane);
  if (threadIdx.x != 0) return;
  to[row] = {lse[row] == -INFINITY ? INFINITY : lse[row] * kLog2E, delta};
}

}  // namespace

void find_row_statistics(const ForwardShape& shape, const void* o, const void* d_o, const float* lse,
                         const std::int32_t* q_slots, RowStatistics* to, cudaStream_t stream) {
  const std::int64_t rows = static_cast<std::int64_t>(shape.batch) * shape.sequence * shape.heads;
  const auto launch = [&](auto element) {
    using T = decltype(element);
    row_statistics<T><<<static_cast<unsigned>((rows + kRows - 1) / kRows), dim3(kLanes, kRows), 0, stream>>>(
        static_cast<const T*>(o), static_cast<const T*>(d_o), lse, q_slots, shape.sequence, shape.heads,
        shape.head_dim, rows, to);
    HILBENCH_CUDA(cudaGetLastError());
  };
  switch (shape.dtype) {
    case Dtype::fp32:
      return launch(float());
    case Dtype::bf16:
      return launch(__nv_bfloat16());
    case Dtype::fp16:
      return launch(__half());
  }
  throw std::invalid_argument("find_row_statistics: unknown element");
}

}  // namespace hilbench::cuda
