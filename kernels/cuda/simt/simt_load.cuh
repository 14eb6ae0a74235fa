// Rows of Q, K and V from device memory to shared memory, as floats.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "kernels/cuda/shared/forward.hpp"
#include "kernels/cuda/simt/simt_tiling.cuh"

namespace hilbench::cuda::simt {

template <Dtype kDtype>
struct Storage {
  static constexpr int kBytes = kDtype == Dtype::fp32 ? 4 : 2;
  static constexpr int kPerChunk = 16 / kBytes;  // elements of one 16-byte access
};

// The elements of one 16-byte chunk as floats.
template <Dtype kDtype>
__device__ __forceinline__ void unpack_chunk(const uint4& chunk, float (&to)[Storage<kDtype>::kPerChunk]) {
  const unsigned words[4] = {chunk.x, chunk.y, chunk.z, chunk.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if constexpr (kDtype == Dtype::fp32) {
      to[i] = __uint_as_float(words[i]);
    } else if constexpr (kDtype == Dtype::bf16) {
      to[2 * i] = __uint_as_float(words[i] << 16);
      to[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
    } else {
      const __half2 pair = *reinterpret_cast<const __half2*>(&words[i]);
      to[2 * i] = __low2float(pair);
      to[2 * i + 1] = __high2float(pair);
    }
  }
}

template <Dtype kDtype>
__device__ __forceinline__ void deposit_chunk(const uint4& chunk, float* to) {
  float values[Storage<kDtype>::kPerChunk];
  unpack_chunk<kDtype>(chunk, values);
#pragma unroll
  for (int i = 0; i < Storage<kDtype>::kPerChunk; i += 4)
    *reinterpret_cast<float4*>(to + i) = make_float4(values[i], values[i + 1], values[i + 2], values[i + 3]);
}

// Rows of one head in device memory, by slot.
struct HeadRows {
  const char* base;           // column 0 of slot 0
  int stride_bytes;           // between slots
  const std::int32_t* slots;  // of each row, or null: row i is at slot first + i * step
  int first;
  int step;
  int count;
};

// base + slot * stride in one instruction; the compiler would use a 64-bit multiplication.
__device__ __forceinline__ const char* row_address(const char* base, int slot, int stride_bytes) {
  const char* row;
  asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(row) : "r"(slot), "r"(stride_bytes), "l"(base));
  return row;
}

[[maybe_unused]] __device__ __forceinline__ void copy_async(float* to, const void* from, bool valid) {
#if __CUDA_ARCH__ >= 800
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  const int bytes = valid ? 16 : 0;  // the rest of the 16 bytes becomes zero
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(bytes)
               : "memory");
#endif
}

__device__ __forceinline__ void await_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// Moves blocks of kKeys rows into shared memory in two steps, with arithmetic between them: fetch() starts
// the loads, deposit() ends them. Rows past the last and columns past head_dim become zeros. A thread moves
// the same 16 bytes of every kPassRows-th row.
template <Dtype kDtype, typename Shape>
class BlockMover {
 public:
  __device__ __forceinline__ void fetch(const HeadRows& rows, int head_dim, int first, float* to) {
    const int row = first + own_row();
    const int count = own_column() < head_dim ? rows.count : 0;
    const char* const column = rows.base + own_column() * Storage<kDtype>::kBytes;
    if (rows.slots == nullptr) {
      const int first_slot = rows.first + row * rows.step, pass_slots = kPassRows * rows.step;
#pragma unroll
      for (int i = 0; i < kPasses; ++i)
        fetch_chunk(i, row_address(column, first_slot + i * pass_slots, rows.stride_bytes),
                    row + i * kPassRows < count, to);
    } else {
      int slots[kPasses];
#pragma unroll
      for (int i = 0; i < kPasses; ++i)
        slots[i] = row + i * kPassRows < count ? __ldg(rows.slots + row + i * kPassRows) : 0;
#pragma unroll
      for (int i = 0; i < kPasses; ++i)
        fetch_chunk(i, row_address(column, slots[i], rows.stride_bytes), row + i * kPassRows < count, to);
    }
  }

  __device__ __forceinline__ void deposit(float* to) {
    if constexpr (kAsync) {
      await_copies();
    } else {
#pragma unroll
      for (int i = 0; i < kPasses; ++i) deposit_chunk<kDtype>(held_[i], target(i, to));
    }
  }

 private:
#if __CUDA_ARCH__ >= 800
  static constexpr bool kAsync = kDtype == Dtype::fp32 && Shape::kTwoBuffers;
#else
  static constexpr bool kAsync = false;
#endif
  static constexpr int kRowChunks = Shape::kHeadDim / Storage<kDtype>::kPerChunk;
  static constexpr int kPassRows = Shape::kThreads / kRowChunks;
  static constexpr int kPasses = Shape::kKeys / kPassRows;
  static_assert(Shape::kThreads % kRowChunks == 0 && Shape::kKeys % kPassRows == 0);

  __device__ __forceinline__ static int own_row() {
    return static_cast<int>(threadIdx.x) / kRowChunks;
  }
  __device__ __forceinline__ static int own_column() {
    return static_cast<int>(threadIdx.x) % kRowChunks * Storage<kDtype>::kPerChunk;
  }
  __device__ __forceinline__ static float* target(int pass, float* to) {
    return to + (own_row() + pass * kPassRows) * Shape::kRowStride + own_column();
  }
  __device__ __forceinline__ void fetch_chunk(int pass, const char* from, bool valid, float* to) {
    if constexpr (kAsync) {
      copy_async(target(pass, to), from, valid);
    } else {
      held_[pass] = valid ? __ldg(reinterpret_cast<const uint4*>(from)) : make_uint4(0, 0, 0, 0);
    }
  }

  uint4 held_[kAsync ? 1 : kPasses];
};

// The warp's rows of Q as floats, [kHeadDim][kWarpRows]; zeros past the last row and past head_dim. A lane
// reads along one row.
template <Dtype kDtype, typename Shape>
__device__ __forceinline__ void load_queries(const ForwardParams& params, const ForwardShape& shape,
                                             const ForwardTile& tile, int warp_row, int lane, float* q) {
  constexpr int kPerChunk = Storage<kDtype>::kPerChunk;
  constexpr int kRowThreads = kWarpLanes / Shape::kWarpRows;
  const int row = lane % Shape::kWarpRows;
  const bool inside = warp_row + row < tile.query_count;
  const int position = tile.query_first + (inside ? warp_row + row : 0) * params.query_step;
  const int slot = params.q_slots != nullptr ? params.q_slots[position] : position;
  const long long head_row =
      (static_cast<long long>(tile.batch) * shape.sequence + slot) * shape.heads + tile.head;
  const char* const from =
      static_cast<const char*>(params.q) + head_row * shape.head_dim * Storage<kDtype>::kBytes;
#pragma unroll 4
  for (int column = lane / Shape::kWarpRows * kPerChunk; column < Shape::kHeadDim;
       column += kRowThreads * kPerChunk) {
    uint4 chunk = make_uint4(0, 0, 0, 0);
    if (inside && column < shape.head_dim)
      chunk = __ldg(reinterpret_cast<const uint4*>(from + column * Storage<kDtype>::kBytes));
    float values[kPerChunk];
    unpack_chunk<kDtype>(chunk, values);
#pragma unroll
    for (int e = 0; e < kPerChunk; ++e) q[(column + e) * Shape::kWarpRows + row] = values[e];
  }
}

template <Dtype kDtype>
__device__ __forceinline__ HeadRows key_rows(const void* tensor, const ForwardParams& params,
                                             const ForwardShape& shape, const ForwardTile& tile) {
  const int stride_bytes = shape.kv_heads * shape.head_dim * Storage<kDtype>::kBytes;
  const char* base = static_cast<const char*>(tensor) +
                     static_cast<long long>(tile.batch) * params.kv_rows * stride_bytes +
                     static_cast<long long>(tile.kv_head) * shape.head_dim * Storage<kDtype>::kBytes;
  const std::int32_t* slots = params.key_slots != nullptr ? params.key_slots + tile.key_begin : nullptr;
  return {base, stride_bytes, slots, tile.key_slot, params.key_slot_step, tile.key_count};
}

}  // namespace hilbench::cuda::simt
