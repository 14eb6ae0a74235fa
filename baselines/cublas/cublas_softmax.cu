// Softmax over the rows of score matrices, in place. A group of threads handles a row. It keeps the row in
// registers if it fits, else it reads the row a second time for the result.
#include <cmath>

#include "baselines/cublas/cublas_softmax.hpp"
#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/shared/element.cuh"

namespace hilbench::cuda {
namespace {

constexpr float kLog2E = 1.4426950408889634f;
constexpr int kGradientThreads = 256;

template <class T>
struct alignas(16) Vector {
  static constexpr int kWidth = 16 / sizeof(T);
  T values[kWidth];
};

// Maximum or sum over the kThreads threads of a row. `shared` holds one value for each warp.
template <int kThreads, class Combine>
__device__ float over_row(float value, float* shared, const Combine& combine) {
  for (int distance = 16; distance > 0; distance /= 2)
    value = combine(value, __shfl_xor_sync(0xffffffffu, value, distance));
  if (kThreads == 32) return value;
  const int warp = threadIdx.x / 32;
  __syncthreads();  // until all have read the values of an earlier reduction
  if (threadIdx.x % 32 == 0) shared[warp] = value;
  __syncthreads();
  value = shared[0];
  for (int i = 1; i < kThreads / 32; ++i) value = combine(value, shared[i]);
  return value;
}

template <int kThreads>
__device__ float row_maximum(float value, float* shared) {
  return over_row<kThreads>(value, shared, [](float a, float b) { return fmaxf(a, b); });
}
template <int kThreads>
__device__ float row_sum(float value, float* shared) {
  return over_row<kThreads>(value, shared, [](float a, float b) { return a + b; });
}

// A row of the block from the point of view of one thread.
template <class T>
struct Row {
  Vector<T>* vectors;
  int visible;  // columns that count
  int count;    // vectors that hold them
  int lane;     // of the thread in the row's group
};

// Score in element e of vector v; -infinity if it is masked.
template <class T>
__device__ float score(const Row<T>& row, const Vector<T>& vector, int v, int e) {
  return v * Vector<T>::kWidth + e < row.visible ? widen(vector.values[e]) : -INFINITY;
}

__device__ float exponential(float x) {
  return exp2f(x * kLog2E);
}

// Both return the maximum of the row and write its denominator to `sum`.
template <class T, int kThreads, int kVectors>
__device__ float softmax_in_registers(const Row<T>& row, float* shared, float& sum) {
  constexpr int kWidth = Vector<T>::kWidth;
  float kept[kVectors][kWidth];
  float largest = -INFINITY;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const int v = i * kThreads + row.lane;
    const Vector<T> vector = v < row.count ? row.vectors[v] : Vector<T>{};
#pragma unroll
    for (int e = 0; e < kWidth; ++e) {
      kept[i][e] = score(row, vector, v, e);
      largest = fmaxf(largest, kept[i][e]);
    }
  }
  largest = row_maximum<kThreads>(largest, shared);
  sum = 0;
#pragma unroll
  for (int i = 0; i < kVectors; ++i)
#pragma unroll
    for (int e = 0; e < kWidth; ++e) sum += kept[i][e] = exponential(kept[i][e] - largest);
  sum = row_sum<kThreads>(sum, shared);
  const float scale = 1 / sum;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const int v = i * kThreads + row.lane;
    Vector<T> vector;
#pragma unroll
    for (int e = 0; e < kWidth; ++e) vector.values[e] = narrow<T>(kept[i][e] * scale);
    if (v < row.count) row.vectors[v] = vector;
  }
  return largest;
}

template <class T, int kThreads>
__device__ float softmax_of_long_row(const Row<T>& row, float* shared, float& sum) {
  constexpr int kWidth = Vector<T>::kWidth;
  float largest = -INFINITY;
  for (int v = row.lane; v < row.count; v += kThreads) {
    const Vector<T> vector = row.vectors[v];
    for (int e = 0; e < kWidth; ++e) largest = fmaxf(largest, score(row, vector, v, e));
  }
  largest = row_maximum<kThreads>(largest, shared);
  sum = 0;
  for (int v = row.lane; v < row.count; v += kThreads) {
    const Vector<T> vector = row.vectors[v];
    for (int e = 0; e < kWidth; ++e) sum += exponential(score(row, vector, v, e) - largest);
  }
  sum = row_sum<kThreads>(sum, shared);
  const float scale = 1 / sum;
  for (int v = row.lane; v < row.count; v += kThreads) {
    Vector<T> vector = row.vectors[v];
    for (int e = 0; e < kWidth; ++e)
      vector.values[e] = narrow<T>(exponential(score(row, vector, v, e) - largest) * scale);
    row.vectors[v] = vector;
  }
  return largest;
}

// kThreads threads for a row, kRows rows for a block. If kVectors > 0, the row fits in kVectors vectors
// of each thread.
template <class T, int kThreads, int kRows, int kVectors>
__global__ void __launch_bounds__(kThreads* kRows) softmax_kernel(ScoreBlock block) {
  static_assert(kRows == 1 || kThreads == 32, "rows share a block only where a row is one warp");
  constexpr int kWidth = Vector<T>::kWidth;
  __shared__ float shared[32];
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kRows + threadIdx.x / kThreads;
  if (index >= static_cast<std::int64_t>(block.problems) * block.rows) return;
  const auto problem = static_cast<std::int32_t>(index / block.rows);
  const auto number = static_cast<std::int32_t>(index % block.rows);
  Row<T> row;
  row.vectors = reinterpret_cast<Vector<T>*>(static_cast<T*>(block.scores) + index * block.leading);
  row.visible = block.causal != 0 ? min(block.columns, block.first_row + number + 1) : block.columns;
  row.count = (row.visible + kWidth - 1) / kWidth;
  row.lane = static_cast<int>(threadIdx.x) % kThreads;
  float sum, largest;
  if constexpr (kVectors > 0)
    largest = softmax_in_registers<T, kThreads, kVectors>(row, shared, sum);
  else
    largest = softmax_of_long_row<T, kThreads>(row, shared, sum);
  const int all = (block.columns + kWidth - 1) / kWidth;
  for (int v = row.count + row.lane; v < all; v += kThreads) row.vectors[v] = Vector<T>{};
  if (row.lane == 0) block.lse[problem * block.lse_problem + number * block.lse_row] = largest + logf(sum);
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
  else if (vectors <= 1024 * 4)
    launch<T, 1024, 1, 4>(block, stream);
  else
    launch<T, 1024, 1, 0>(block, stream);
}

// A block has one row after another.
template <class T>
__global__ void __launch_bounds__(kGradientThreads) gradients_kernel(GradientBlock block) {
  const std::int64_t rows = static_cast<std::int64_t>(block.problems) * block.rows;
  for (std::int64_t index = blockIdx.x; index < rows; index += gridDim.x) {
    const std::int64_t problem = index / block.rows, number = index % block.rows;
    const std::int64_t at = problem * block.row_problem + number * block.row_step;
    const float lse = block.lse[at], delta = block.delta[at];
    const std::int64_t seen = block.causal != 0 ? block.first_row + number + 1 : block.columns;
    const float* scores = block.scores + index * block.leading;
    const float* d_p = block.d_p + index * block.leading;
    T* to_p = static_cast<T*>(block.p) + index * block.leading;
    T* to_d_s = static_cast<T*>(block.d_s) + index * block.leading;
    for (int column = static_cast<int>(threadIdx.x); column < block.columns; column += kGradientThreads) {
      const float p = column < seen && lse > -INFINITY ? exponential(scores[column] - lse) : 0;
      const float d_s = p > 0 ? p * (d_p[column] - delta) : 0;
      to_p[column] = narrow<T>(p);
      to_d_s[column] = narrow<T>(d_s);
    }
  }
}

// A warp for each row.
template <class T>
__global__ void __launch_bounds__(kGradientThreads)
    row_dots_kernel(std::int64_t rows, std::int64_t head_dim, const T* a, const T* b, float* delta) {
  const std::int64_t row = (static_cast<std::int64_t>(blockIdx.x) * kGradientThreads + threadIdx.x) / 32;
  if (row >= rows) return;
  float sum = 0;
  for (std::int64_t e = threadIdx.x % 32; e < head_dim; e += 32)
    sum += widen(a[row * head_dim + e]) * widen(b[row * head_dim + e]);
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  if (threadIdx.x % 32 == 0) delta[row] = sum;
}

// Calls `body` with a null pointer to the element type.
template <class Body>
void with_scores_of(Dtype dtype, const Body& body) {
  if (dtype == Dtype::fp32)
    body(static_cast<float*>(nullptr));
  else if (dtype == Dtype::bf16)
    body(static_cast<__nv_bfloat16*>(nullptr));
  else
    body(static_cast<__half*>(nullptr));
}

}  // namespace

void softmax_rows(const ScoreBlock& block, cudaStream_t stream) {
  switch (block.dtype) {
    case Dtype::fp32:
      softmax<float>(block, stream);
      break;
    case Dtype::bf16:
      softmax<__nv_bfloat16>(block, stream);
      break;
    case Dtype::fp16:
      softmax<__half>(block, stream);
      break;
  }
  HILBENCH_CUDA(cudaGetLastError());
}

void softmax_gradients(const GradientBlock& block, cudaStream_t stream) {
  const std::int64_t rows = static_cast<std::int64_t>(block.problems) * block.rows;
  constexpr std::int64_t kMostBlocks = 1 << 20;
  with_scores_of(block.dtype, [&](auto* element) {
    using T = std::remove_pointer_t<decltype(element)>;
    gradients_kernel<T>
        <<<static_cast<unsigned>(rows < kMostBlocks ? rows : kMostBlocks), kGradientThreads, 0, stream>>>(
            block);
  });
  HILBENCH_CUDA(cudaGetLastError());
}

void row_dots(std::int64_t rows, std::int64_t head_dim, Dtype dtype, const void* a, const void* b,
              float* delta, cudaStream_t stream) {
  constexpr std::int64_t kRows = kGradientThreads / 32;
  with_scores_of(dtype, [&](auto* element) {
    using T = std::remove_pointer_t<decltype(element)>;
    row_dots_kernel<<<static_cast<unsigned>((rows + kRows - 1) / kRows), kGradientThreads, 0, stream>>>(
        rows, head_dim, static_cast<const T*>(a), static_cast<const T*>(b), delta);
  });
  HILBENCH_CUDA(cudaGetLastError());
}

}  // namespace hilbench::cuda
