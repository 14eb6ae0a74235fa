// Softmax over the rows of score matrices, in place. A row belongs to a group of threads that keeps it in
// registers where it fits, else reads it again for the result.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>

#include "baselines/cublas_softmax.hpp"
#include "kernels/cuda/status.hpp"

namespace hilbench::cuda {
namespace {

constexpr float kLog2E = 1.4426950408889634f;

__device__ float widened(float value) {
  return value;
}
__device__ float widened(__half value) {
  return __half2float(value);
}
__device__ float widened(__nv_bfloat16 value) {
  return __bfloat162float(value);
}
__device__ void narrow(float value, float* to) {
  *to = value;
}
__device__ void narrow(float value, __half* to) {
  *to = __float2half(value);
}
__device__ void narrow(float value, __nv_bfloat16* to) {
  *to = __float2bfloat16(value);
}

template <class T>
struct alignas(16) Vector {
  static constexpr int kWidth = 16 / sizeof(T);
  T values[kWidth];
};

// Maximum or sum over the kThreads threads of a row; `shared` holds a value of each warp.
template <int kThreads, class Combine>
__device__ float over_row(float value, float* shared, const Combine& combine) {
  for (int distance = 16; distance > 0; distance /= 2)
    value = combine(value, __shfl_xor_sync(0xffffffffu, value, distance));
  if (kThreads == 32) return value;
  const int warp = threadIdx.x / 32;
  __syncthreads();  // the values of an earlier reduction have been read
  if (threadIdx.x % 32 == 0) shared[warp] = value;
  __syncthreads();
  value = shared[0];
  for (int i = 1; i < kThreads / 32; ++i) value = combine(value, shared[i]);
  return value;
}

// kThreads a row, kRows rows a block; kVectors > 0: the row fits kVectors vectors a thread, kept in
// registers.
template <class T, int kThreads, int kRows, int kVectors>
__global__ void __launch_bounds__(kThreads* kRows) softmax_kernel(ScoreBlock block) {
  static_assert(kRows == 1 || kThreads == 32, "rows share a block only where a row is one warp");
  using Vec = Vector<T>;
  constexpr int kWidth = Vec::kWidth;
  __shared__ float shared[32];
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kRows + threadIdx.x / kThreads;
  if (index >= static_cast<std::int64_t>(block.problems) * block.rows) return;
  const auto problem = static_cast<std::int32_t>(index / block.rows);
  const auto row = static_cast<std::int32_t>(index % block.rows);
  Vec* vectors = reinterpret_cast<Vec*>(static_cast<T*>(block.scores) + index * block.leading);
  const int visible = block.causal != 0 ? min(block.columns, block.first_row + row + 1) : block.columns;
  const int count = (visible + kWidth - 1) / kWidth, all = (block.columns + kWidth - 1) / kWidth;
  const int lane = threadIdx.x % kThreads;

  Vec kept[kVectors > 0 ? kVectors : 1];
  const auto each = [&](const auto& body, bool fresh) {
    if constexpr (kVectors > 0) {
#pragma unroll
      for (int i = 0; i < kVectors; ++i) {
        const int v = i * kThreads + lane;
        if (v >= count) continue;
        if (fresh) kept[i] = vectors[v];
        body(v, kept[i]);
      }
    } else {
      for (int v = lane; v < count; v += kThreads) {
        Vec vector = vectors[v];
        body(v, vector);
      }
    }
  };

  float largest = -INFINITY;
  each(
      [&](int v, Vec& vector) {
#pragma unroll
        for (int e = 0; e < kWidth; ++e)
          if (v * kWidth + e < visible) largest = fmaxf(largest, widened(vector.values[e]));
      },
      true);
  largest = over_row<kThreads>(largest, shared, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0;
  each(
      [&](int v, Vec& vector) {
#pragma unroll
        for (int e = 0; e < kWidth; ++e)
          if (v * kWidth + e < visible) sum += exp2f((widened(vector.values[e]) - largest) * kLog2E);
      },
      false);
  sum = over_row<kThreads>(sum, shared, [](float a, float b) { return a + b; });
  const float scale = 1 / sum;
  each(
      [&](int v, Vec& vector) {
#pragma unroll
        for (int e = 0; e < kWidth; ++e) {
          const float p = exp2f((widened(vector.values[e]) - largest) * kLog2E) * scale;
          narrow(v * kWidth + e < visible ? p : 0.0f, &vector.values[e]);
        }
        vectors[v] = vector;
      },
      false);
  for (int v = count + lane; v < all; v += kThreads) vectors[v] = Vec{};
  if (lane == 0) block.lse[problem * block.lse_problem + row * block.lse_row] = largest + logf(sum);
}

template <class T, int kThreads, int kRows, int kVectors>
void launch(const ScoreBlock& block, cudaStream_t stream) {
  const std::int64_t rows = static_cast<std::int64_t>(block.problems) * block.rows;
  softmax_kernel<T, kThreads, kRows, kVectors>
      <<<static_cast<unsigned>((rows + kRows - 1) / kRows), kThreads * kRows, 0, stream>>>(block);
}

template <class T>
void softmax(const ScoreBlock& block, cudaStream_t stream) {
  constexpr int kWidth = Vector<T>::kWidth;
  const int vectors = (block.columns + kWidth - 1) / kWidth;
  if (vectors <= 32 * 4)
    launch<T, 32, 4, 4>(block, stream);
  else if (vectors <= 256 * 4)
    launch<T, 256, 1, 4>(block, stream);
  else if (vectors <= 512 * 4)
    launch<T, 512, 1, 4>(block, stream);
  else if (vectors <= 1024 * 8)
    launch<T, 1024, 1, 8>(block, stream);
  else
    launch<T, 1024, 1, 0>(block, stream);
}

}  // namespace

void softmax_rows(const ScoreBlock& block, cudaStream_t stream) {
  switch (block.element) {
    case Element::fp32:
      softmax<float>(block, stream);
      break;
    case Element::bf16:
      softmax<__nv_bfloat16>(block, stream);
      break;
    case Element::fp16:
      softmax<__half>(block, stream);
      break;
  }
  HILBENCH_CUDA(cudaGetLastError());
}

}  // namespace hilbench::cuda
