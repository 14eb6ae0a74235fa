// Rows of a branch between position order and gathered order, in chunks of 16 bytes where the rows allow it.
// A block takes the heads of some positions in turn, so that what depends on the position alone is worked
// out once for a whole row of heads * head_dim elements.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>

#include "baselines/branch_rows.hpp"
#include "kernels/cuda/status.hpp"

namespace hilbench::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kPositions = 8;  // of a block

struct Place {  // a position in its segment
  std::int32_t segment, local, length;
};

__device__ Place place_of(const BranchRows& branch, std::int32_t sequence, std::int32_t position) {
  const std::int32_t segment = position / branch.segment_length;
  const std::int32_t begin = segment * branch.segment_length;
  return {segment, position - begin, min(sequence - begin, branch.segment_length)};
}

// Number of the place's row among the queries of a head with this offset; -1: it is none.
__device__ std::int32_t query_number(const BranchRows& branch, const Place& place, std::int32_t offset) {
  if (offset < 0) return -1;
  if (branch.dense != 0) return place.length > offset ? place.local : -1;
  const std::int32_t from_offset = place.local - offset;
  return from_offset >= 0 && from_offset % branch.dilation == 0 ? from_offset / branch.dilation : -1;
}

template <class Chunk>
__global__ void gather_kernel(RowTensor tensor, BranchRows branch, const Chunk* from, Chunk* to,
                              int row_chunks, std::int64_t gathered_positions) {
  const int all_chunks = tensor.heads * row_chunks;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kPositions;
#pragma unroll
  for (int i = 0; i < kPositions; ++i) {
    const std::int64_t gathered = first + i;
    if (gathered >= gathered_positions) return;
    const std::int64_t row = gathered % branch.rows, of_batch = gathered / branch.rows;
    const std::int64_t segment = of_batch % branch.segments, batch = of_batch / branch.segments;
    const std::int64_t begin = segment * branch.segment_length;
    for (int chunk = threadIdx.x; chunk < all_chunks; chunk += kThreads) {
      const std::int32_t offset = branch.offsets[chunk / row_chunks];
      const std::int64_t local = offset + row * branch.dilation;
      if (offset < 0 || local >= branch.segment_length || begin + local >= tensor.sequence) continue;
      to[gathered * all_chunks + chunk] =
          from[(batch * tensor.sequence + begin + local) * all_chunks + chunk];
    }
  }
}

template <class Chunk>
__global__ void clear_kernel(RowTensor tensor, BranchRows branch, Chunk* o, float* lse, int row_chunks) {
  const int all_chunks = tensor.heads * row_chunks;
  const std::int64_t positions = static_cast<std::int64_t>(tensor.batch) * tensor.sequence;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kPositions;
#pragma unroll 1
  for (int i = 0; i < kPositions; ++i) {
    const std::int64_t position = first + i;
    if (position >= positions) return;
    const Place place =
        place_of(branch, tensor.sequence, static_cast<std::int32_t>(position % tensor.sequence));
    for (int chunk = threadIdx.x; chunk < all_chunks; chunk += kThreads) {
      const int head = chunk / row_chunks;
      if (query_number(branch, place, branch.offsets[head]) >= 0) continue;
      o[position * all_chunks + chunk] = Chunk{};
      if (chunk == head * row_chunks) lse[position * tensor.heads + head] = -INFINITY;
    }
  }
}

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

template <class T, int kWidth>
struct alignas(sizeof(T) * kWidth) Lanes {
  T values[kWidth];
};

// Row of head `head` at this position in the branch's output; -1: not covered.
__device__ std::int64_t output_row(const BranchOutput& branch, const RowTensor& tensor, std::int64_t batch,
                                   std::int32_t position, int head) {
  const Place place = place_of(branch.rows, tensor.sequence, position);
  const std::int32_t number = query_number(branch.rows, place, branch.rows.offsets[head]);
  if (number < 0) return -1;
  const std::int64_t row = branch.gathered != 0
                               ? (batch * branch.rows.segments + place.segment) * branch.rows.rows + number
                               : batch * tensor.sequence + position;
  return row * tensor.heads + head;
}

template <class T, int kWidth>
__global__ void combine_kernel(RowTensor tensor, const BranchOutputs branches, Lanes<T, kWidth>* o,
                               float* lse, int row_chunks) {
  const int all_chunks = tensor.heads * row_chunks;
  const std::int64_t positions = static_cast<std::int64_t>(tensor.batch) * tensor.sequence;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kPositions;
  for (int i = 0; i < kPositions; ++i) {
    if (first + i >= positions) return;
    const std::int64_t batch = (first + i) / tensor.sequence;
    const auto position = static_cast<std::int32_t>((first + i) % tensor.sequence);
    for (int chunk = threadIdx.x; chunk < all_chunks; chunk += kThreads) {
      const int head = chunk / row_chunks, lane = chunk - head * row_chunks;
      float largest = -INFINITY;
      for (int b = 0; b < branches.count; ++b) {
        const std::int64_t row = output_row(branches.at[b], tensor, batch, position, head);
        if (row >= 0) largest = fmaxf(largest, branches.at[b].lse[row]);
      }
      float sum = 0;
      float combined[kWidth] = {};
      for (int b = 0; b < branches.count; ++b) {
        const std::int64_t row = output_row(branches.at[b], tensor, batch, position, head);
        if (row < 0) continue;
        const float weight = expf(branches.at[b].lse[row] - largest);
        const Lanes<T, kWidth> part =
            static_cast<const Lanes<T, kWidth>*>(branches.at[b].o)[row * row_chunks + lane];
        sum += weight;
        for (int e = 0; e < kWidth; ++e) combined[e] += weight * widened(part.values[e]);
      }
      const bool covered = sum > 0;
      Lanes<T, kWidth> result;
      for (int e = 0; e < kWidth; ++e) narrow(covered ? combined[e] / sum : 0.0f, &result.values[e]);
      o[(first + i) * all_chunks + chunk] = result;
      if (lane == 0) lse[(first + i) * tensor.heads + head] = covered ? largest + logf(sum) : -INFINITY;
    }
  }
}

unsigned blocks_for(std::int64_t positions) {
  return static_cast<unsigned>((positions + kPositions - 1) / kPositions);
}

std::int64_t positions_of(const RowTensor& tensor) {
  return static_cast<std::int64_t>(tensor.batch) * tensor.sequence;
}

int element_bytes(Element element) {
  return element == Element::fp32 ? 4 : 2;
}

bool wide(const RowTensor& tensor) {
  return tensor.head_dim * element_bytes(tensor.element) % 16 == 0;
}

// Calls `body` with a pointer of the widest chunk that rows consist of, and with the chunks of a row.
template <class Body>
void with_chunk(const RowTensor& tensor, const Body& body) {
  if (wide(tensor))
    body(static_cast<uint4*>(nullptr), tensor.head_dim * element_bytes(tensor.element) / 16);
  else if (tensor.element == Element::fp32)
    body(static_cast<std::uint32_t*>(nullptr), tensor.head_dim);
  else
    body(static_cast<std::uint16_t*>(nullptr), tensor.head_dim);
}

template <class T>
void combine(const RowTensor& tensor, const BranchOutputs& branches, void* o, float* lse,
             cudaStream_t stream) {
  constexpr int kWidth = 16 / sizeof(T);
  const unsigned blocks = blocks_for(positions_of(tensor));
  if (wide(tensor))
    combine_kernel<T, kWidth><<<blocks, kThreads, 0, stream>>>(
        tensor, branches, static_cast<Lanes<T, kWidth>*>(o), lse, tensor.head_dim / kWidth);
  else
    combine_kernel<T, 1><<<blocks, kThreads, 0, stream>>>(tensor, branches, static_cast<Lanes<T, 1>*>(o), lse,
                                                          tensor.head_dim);
}

}  // namespace

void gather_rows(const RowTensor& tensor, const BranchRows& branch, const void* from, void* to,
                 cudaStream_t stream) {
  const std::int64_t gathered = static_cast<std::int64_t>(tensor.batch) * branch.segments * branch.rows;
  with_chunk(tensor, [&](auto* chunk, int row_chunks) {
    using Chunk = std::remove_pointer_t<decltype(chunk)>;
    gather_kernel<<<blocks_for(gathered), kThreads, 0, stream>>>(
        tensor, branch, static_cast<const Chunk*>(from), static_cast<Chunk*>(to), row_chunks, gathered);
  });
  HILBENCH_CUDA(cudaGetLastError());
}

void clear_uncovered_rows(const RowTensor& tensor, const BranchRows& branch, void* o, float* lse,
                          cudaStream_t stream) {
  with_chunk(tensor, [&](auto* chunk, int row_chunks) {
    using Chunk = std::remove_pointer_t<decltype(chunk)>;
    clear_kernel<<<blocks_for(positions_of(tensor)), kThreads, 0, stream>>>(
        tensor, branch, static_cast<Chunk*>(o), lse, row_chunks);
  });
  HILBENCH_CUDA(cudaGetLastError());
}

void combine_branches(const RowTensor& tensor, const BranchOutputs& branches, void* o, float* lse,
                      cudaStream_t stream) {
  switch (tensor.element) {
    case Element::fp32:
      combine<float>(tensor, branches, o, lse, stream);
      break;
    case Element::bf16:
      combine<__nv_bfloat16>(tensor, branches, o, lse, stream);
      break;
    case Element::fp16:
      combine<__half>(tensor, branches, o, lse, stream);
      break;
  }
  HILBENCH_CUDA(cudaGetLastError());
}

}  // namespace hilbench::cuda
