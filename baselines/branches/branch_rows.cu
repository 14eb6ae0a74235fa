// Moves rows of a branch between position order and gathered order, in chunks of 16 bytes if the row length
// allows. A thread stays in one column of the rows [heads * head_dim] for several rows, so head and offset
// stay the same.
#include <cmath>

#include "baselines/branches/branch_rows.hpp"
#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/shared/element.cuh"

namespace hilbench::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kBlockRows = 16;  // rows [heads * head_dim] that a block handles

// The work of a thread: chunk `column` of the rows first, first + step, ... of its block.
struct Column {
  int column, first, step;
};
__device__ Column column_of(int row_columns) {
  const int width = min(row_columns, kThreads);
  const int slots = kThreads / width, slot = static_cast<int>(threadIdx.x) / width;
  const int column = static_cast<int>(blockIdx.y) * kThreads + static_cast<int>(threadIdx.x) % width;
  return {column, slot < slots && column < row_columns ? slot : kBlockRows, slots};
}

// The rows of a block: [begin, begin + count) of a batch entry or of a segment.
struct BlockRows {
  std::int64_t stretch;
  std::int32_t begin, count;
};
__device__ BlockRows block_rows(std::int32_t stretch_rows) {
  const std::int32_t blocks = (stretch_rows + kBlockRows - 1) / kBlockRows;
  const auto stretch = static_cast<std::int32_t>(blockIdx.x / static_cast<unsigned>(blocks));
  const std::int32_t begin = (static_cast<std::int32_t>(blockIdx.x) - stretch * blocks) * kBlockRows;
  return {stretch, begin, min(kBlockRows, stretch_rows - begin)};
}

// How a branch uses a position, independent of the head.
struct Place {
  std::int64_t row;     // row [.., heads] of the branch's output, if the position is covered
  std::int32_t select;  // heads with this offset cover it; with dense queries: smaller offsets
};

__device__ Place place_of(const BranchRows& branch, bool gathered, std::int32_t sequence, std::int64_t batch,
                          std::int32_t position) {
  const std::int32_t segment = position / branch.segment_length;
  const std::int32_t begin = segment * branch.segment_length, local = position - begin;
  const std::int32_t number = local / branch.dilation;
  const std::int64_t row =
      gathered ? (batch * branch.segments + segment) * branch.rows + number : batch * sequence + position;
  return {row, branch.dense != 0 ? min(sequence - begin, branch.segment_length)
                                 : local - number * branch.dilation};
}

// `offset`: of a head; -1 if it does not run the branch.
__device__ bool covered(const BranchRows& branch, const Place& place, std::int32_t offset) {
  return offset >= 0 && (branch.dense != 0 ? offset < place.select : offset == place.select);
}

template <class Chunk>
__global__ void __launch_bounds__(kThreads)
    gather_kernel(RowTensor tensor, BranchRows branch, const Chunk* from, Chunk* to, int row_chunks) {
  const int row_columns = tensor.heads * row_chunks;
  const Column at = column_of(row_columns);
  const BlockRows rows = block_rows(branch.rows);
  const std::int64_t batch = rows.stretch / branch.segments, segment = rows.stretch % branch.segments;
  const auto begin = static_cast<std::int32_t>(segment * branch.segment_length);
  const std::int32_t length = min(branch.segment_length, tensor.sequence - begin);
  const std::int32_t offset = at.first < rows.count ? branch.offsets[at.column / row_chunks] : -1;
  if (offset < 0) return;
  from += (batch * tensor.sequence + begin) * row_columns + at.column;
  to += (rows.stretch * branch.rows + rows.begin) * row_columns + at.column;
#pragma unroll 8
  for (int i = at.first; i < rows.count; i += at.step) {
    const std::int64_t local = offset + static_cast<std::int64_t>(rows.begin + i) * branch.dilation;
    if (local < length) to[static_cast<std::int64_t>(i) * row_columns] = from[local * row_columns];
  }
}

template <class Chunk>
__global__ void __launch_bounds__(kThreads)
    clear_kernel(RowTensor tensor, BranchRows branch, Chunk* o, float* lse, int row_chunks) {
  __shared__ Place places[kBlockRows];
  const int row_columns = tensor.heads * row_chunks;
  const Column at = column_of(row_columns);
  const BlockRows rows = block_rows(tensor.sequence);
  const std::int64_t first = rows.stretch * tensor.sequence + rows.begin;
  if (static_cast<int>(threadIdx.x) < rows.count)
    places[threadIdx.x] = place_of(branch, false, tensor.sequence, rows.stretch,
                                   rows.begin + static_cast<std::int32_t>(threadIdx.x));
  const std::int32_t offset = at.first < rows.count ? branch.offsets[at.column / row_chunks] : -1;
  __syncthreads();
#pragma unroll 4
  for (int i = at.first; i < rows.count; i += at.step)
    if (!covered(branch, places[i], offset)) o[(first + i) * row_columns + at.column] = Chunk{};
  if (blockIdx.y > 0) return;
  for (int i = threadIdx.x; i < rows.count * tensor.heads; i += kThreads)
    if (!covered(branch, places[i / tensor.heads], branch.offsets[i % tensor.heads]))
      lse[first * tensor.heads + i] = -INFINITY;
}

template <class T, int kWidth>
struct alignas(sizeof(T) * kWidth) Lanes {
  T values[kWidth];
};

// Softmax denominators of the branches so far: their total is sum * exp(largest).
struct Weights {
  float largest = -INFINITY, sum = 0;
  // Adds a branch. `kept` and `added` become the factors of the result so far and of the branch.
  __device__ void add(float lse, float& kept, float& added) {
    const float larger = fmaxf(largest, lse);
    kept = expf(largest - larger);
    added = expf(lse - larger);
    largest = larger;
    sum = sum * kept + added;
  }
  __device__ float lse() const { return largest + logf(sum); }
};

template <class T, int kWidth>
__global__ void __launch_bounds__(kThreads) combine_kernel(RowTensor tensor, const BranchOutputs branches,
                                                           Lanes<T, kWidth>* o, float* lse, int row_chunks) {
  __shared__ Place places[kMaxBranches][kBlockRows];
  const int row_columns = tensor.heads * row_chunks;
  const Column at = column_of(row_columns);
  const BlockRows rows = block_rows(tensor.sequence);
  const std::int64_t first = rows.stretch * tensor.sequence + rows.begin;
  for (int i = threadIdx.x; i < branches.count * kBlockRows; i += kThreads) {
    const BranchOutput& branch = branches.at[i / kBlockRows];
    places[i / kBlockRows][i % kBlockRows] = place_of(branch.rows, branch.gathered != 0, tensor.sequence,
                                                      rows.stretch, rows.begin + i % kBlockRows);
  }
  __syncthreads();
  const int head = at.column / row_chunks, lane = at.column - head * row_chunks;
#pragma unroll 2
  for (int i = at.first; i < rows.count; i += at.step) {
    Weights weights;
    float combined[kWidth] = {};
    for (int b = 0; b < branches.count; ++b) {
      const BranchOutput& branch = branches.at[b];
      if (!covered(branch.rows, places[b][i], branch.rows.offsets[head])) continue;
      const std::int64_t row = places[b][i].row * tensor.heads + head;
      const Lanes<T, kWidth> part = static_cast<const Lanes<T, kWidth>*>(branch.o)[row * row_chunks + lane];
      float kept, added;
      weights.add(branch.lse[row], kept, added);
      for (int e = 0; e < kWidth; ++e) combined[e] = kept * combined[e] + added * widen(part.values[e]);
    }
    const float scale = weights.sum > 0 ? 1 / weights.sum : 0;
    Lanes<T, kWidth> result;
    for (int e = 0; e < kWidth; ++e) result.values[e] = narrow<T>(scale * combined[e]);
    o[(first + i) * row_columns + at.column] = result;
  }
  if (blockIdx.y > 0) return;
  for (int i = threadIdx.x; i < rows.count * tensor.heads; i += kThreads) {
    const int row_head = i % tensor.heads;
    Weights weights;
    for (int b = 0; b < branches.count; ++b) {
      const BranchOutput& branch = branches.at[b];
      const Place& place = places[b][i / tensor.heads];
      float kept, added;
      if (covered(branch.rows, place, branch.rows.offsets[row_head]))
        weights.add(branch.lse[place.row * tensor.heads + row_head], kept, added);
    }
    lse[first * tensor.heads + i] = weights.sum > 0 ? weights.lse() : -INFINITY;
  }
}

dim3 grid_of(std::int64_t stretches, std::int32_t stretch_rows, int row_columns) {
  const std::int64_t blocks = (stretch_rows + kBlockRows - 1) / kBlockRows;
  return dim3(static_cast<unsigned>(stretches * blocks),
              static_cast<unsigned>((row_columns + kThreads - 1) / kThreads));
}

int row_bytes(const RowTensor& tensor) {
  return tensor.head_dim * static_cast<int>(dtype_bytes(tensor.dtype));
}
bool wide(const RowTensor& tensor) {
  return row_bytes(tensor) % 16 == 0;
}

// Calls `body` with a null pointer to the widest chunk type that divides a row, and the number of chunks
// of a row.
template <class Body>
void with_chunk(const RowTensor& tensor, const Body& body) {
  if (wide(tensor))
    body(static_cast<uint4*>(nullptr), row_bytes(tensor) / 16);
  else if (tensor.dtype == Dtype::fp32)
    body(static_cast<std::uint32_t*>(nullptr), tensor.head_dim);
  else
    body(static_cast<std::uint16_t*>(nullptr), tensor.head_dim);
}

// Calls `body` with the positions in two tensors of each chunk of a call's rows. A block has one index
// (outer, row) after another, its threads the chunks of all heads.
template <class Body>
__device__ void for_each_chunk(const CallCounts& counts, int row_chunks, const CallRows& a, const CallRows& b,
                               const Body& body) {
  const int columns = static_cast<int>(counts.heads) * row_chunks;
  for (std::int64_t i = blockIdx.x; i < counts.outer * counts.rows; i += gridDim.x) {
    const std::int64_t outer = i / counts.rows, row = i % counts.rows;
    const std::int64_t in_a = outer * a.outer + row * a.row, in_b = outer * b.outer + row * b.row;
    for (int column = static_cast<int>(threadIdx.x); column < columns; column += kThreads) {
      const int head = column / row_chunks, chunk = column - head * row_chunks;
      body((in_a + head * a.head) * row_chunks + chunk, (in_b + head * b.head) * row_chunks + chunk);
    }
  }
}

template <class Chunk>
__global__ void __launch_bounds__(kThreads)
    copy_rows_kernel(CallCounts counts, int row_chunks, const Chunk* from, CallRows from_at, Chunk* to,
                     CallRows to_at) {
  for_each_chunk(counts, row_chunks, from_at, to_at,
                 [&](std::int64_t source, std::int64_t target) { to[target] = from[source]; });
}

template <class T, int kWidth>
__global__ void __launch_bounds__(kThreads)
    add_rows_kernel(CallCounts counts, int row_chunks, const Lanes<T, kWidth>* rows, CallRows rows_at,
                    Lanes<float, kWidth>* sums, CallRows sums_at) {
  for_each_chunk(counts, row_chunks, rows_at, sums_at, [&](std::int64_t source, std::int64_t target) {
    const Lanes<T, kWidth> part = rows[source];
    Lanes<float, kWidth> sum = sums[target];
    for (int e = 0; e < kWidth; ++e) sum.values[e] += widen(part.values[e]);
    sums[target] = sum;
  });
}

template <class T>
__global__ void __launch_bounds__(kThreads) round_kernel(std::int64_t count, const float* sums, T* to) {
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < count;
       i += static_cast<std::int64_t>(gridDim.x) * kThreads)
    to[i] = narrow<T>(sums[i]);
}

// Enough to fill any GPU; a block goes on with what is left.
unsigned blocks_of(std::int64_t pieces) {
  constexpr std::int64_t kMost = 1 << 16;
  return static_cast<unsigned>(pieces < kMost ? pieces : kMost);
}

// Calls `body` with a null pointer to the element type.
template <class Body>
void with_element(Dtype dtype, const Body& body) {
  if (dtype == Dtype::fp32)
    body(static_cast<float*>(nullptr));
  else if (dtype == Dtype::bf16)
    body(static_cast<__nv_bfloat16*>(nullptr));
  else
    body(static_cast<__half*>(nullptr));
}

template <class T>
void combine(const RowTensor& tensor, const BranchOutputs& branches, void* o, float* lse,
             cudaStream_t stream) {
  constexpr int kWidth = 16 / sizeof(T);
  const int row_chunks = wide(tensor) ? tensor.head_dim / kWidth : tensor.head_dim;
  const dim3 grid = grid_of(tensor.batch, tensor.sequence, tensor.heads * row_chunks);
  if (wide(tensor))
    combine_kernel<T, kWidth>
        <<<grid, kThreads, 0, stream>>>(tensor, branches, static_cast<Lanes<T, kWidth>*>(o), lse, row_chunks);
  else
    combine_kernel<T, 1>
        <<<grid, kThreads, 0, stream>>>(tensor, branches, static_cast<Lanes<T, 1>*>(o), lse, tensor.head_dim);
}

}  // namespace

void gather_rows(const RowTensor& tensor, const BranchRows& branch, const void* from, void* to,
                 cudaStream_t stream) {
  with_chunk(tensor, [&](auto* chunk, int row_chunks) {
    using Chunk = std::remove_pointer_t<decltype(chunk)>;
    gather_kernel<<<grid_of(static_cast<std::int64_t>(tensor.batch) * branch.segments, branch.rows,
                            tensor.heads * row_chunks),
                    kThreads, 0, stream>>>(tensor, branch, static_cast<const Chunk*>(from),
                                           static_cast<Chunk*>(to), row_chunks);
  });
  HILBENCH_CUDA(cudaGetLastError());
}

void clear_uncovered_rows(const RowTensor& tensor, const BranchRows& branch, void* o, float* lse,
                          cudaStream_t stream) {
  with_chunk(tensor, [&](auto* chunk, int row_chunks) {
    using Chunk = std::remove_pointer_t<decltype(chunk)>;
    clear_kernel<<<grid_of(tensor.batch, tensor.sequence, tensor.heads * row_chunks), kThreads, 0, stream>>>(
        tensor, branch, static_cast<Chunk*>(o), lse, row_chunks);
  });
  HILBENCH_CUDA(cudaGetLastError());
}

void combine_branches(const RowTensor& tensor, const BranchOutputs& branches, void* o, float* lse,
                      cudaStream_t stream) {
  switch (tensor.dtype) {
    case Dtype::fp32:
      combine<float>(tensor, branches, o, lse, stream);
      break;
    case Dtype::bf16:
      combine<__nv_bfloat16>(tensor, branches, o, lse, stream);
      break;
    case Dtype::fp16:
      combine<__half>(tensor, branches, o, lse, stream);
      break;
  }
  HILBENCH_CUDA(cudaGetLastError());
}

void copy_rows(const CallCounts& counts, std::int64_t row_bytes, const void* from, const CallRows& from_rows,
               void* to, const CallRows& to_rows, cudaStream_t stream) {
  const auto copy = [&](auto* chunk) {
    using Chunk = std::remove_pointer_t<decltype(chunk)>;
    copy_rows_kernel<<<blocks_of(counts.outer * counts.rows), kThreads, 0, stream>>>(
        counts, static_cast<int>(row_bytes / static_cast<std::int64_t>(sizeof(Chunk))),
        static_cast<const Chunk*>(from), from_rows, static_cast<Chunk*>(to), to_rows);
  };
  if (row_bytes % 16 == 0)
    copy(static_cast<uint4*>(nullptr));
  else
    copy(static_cast<std::uint32_t*>(nullptr));
  HILBENCH_CUDA(cudaGetLastError());
}

void add_rows(const CallCounts& counts, std::int64_t head_dim, Dtype dtype, const void* rows,
              const CallRows& rows_at, float* sums, const CallRows& sums_at, cudaStream_t stream) {
  with_element(dtype, [&](auto* element) {
    using T = std::remove_pointer_t<decltype(element)>;
    constexpr int kWidth = 16 / sizeof(T);
    add_rows_kernel<T, kWidth><<<blocks_of(counts.outer * counts.rows), kThreads, 0, stream>>>(
        counts, static_cast<int>(head_dim / kWidth), static_cast<const Lanes<T, kWidth>*>(rows), rows_at,
        reinterpret_cast<Lanes<float, kWidth>*>(sums), sums_at);
  });
  HILBENCH_CUDA(cudaGetLastError());
}

void round_sums(std::int64_t count, Dtype dtype, const float* sums, void* to, cudaStream_t stream) {
  with_element(dtype, [&](auto* element) {
    using T = std::remove_pointer_t<decltype(element)>;
    round_kernel<<<blocks_of((count + kThreads - 1) / kThreads), kThreads, 0, stream>>>(count, sums,
                                                                                        static_cast<T*>(to));
  });
  HILBENCH_CUDA(cudaGetLastError());
}

}  // namespace hilbench::cuda
