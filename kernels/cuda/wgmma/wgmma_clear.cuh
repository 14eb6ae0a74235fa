// Clears the rows of O and LSE that no tile covers, while the other warps compute the rest.
#pragma once

#include <cstdint>

#include "kernels/cuda/wgmma/wgmma_tiling.cuh"

namespace hilbench::cuda {

constexpr int kClearCycles = 1200;  // between two windows of a clearing warp, while tiles are left
constexpr int kFewKeys = 512;       // of a tile: with fewer, moving rows takes longer than computing

// A warp stores zeros in those of the 32 consecutive rows from `rows` on whose bit in `mask` is set.
template <int kRowBytes>
__device__ __forceinline__ void store_zeros(char* rows, std::uint32_t mask) {
  const int at = threadIdx.x % 32 * 16;
  char* target = rows + at;
  asm volatile("" : "+l"(target));  // one address; the distances from it are part of the instructions
  if (mask == 0xFFFFFFFFu) {
#pragma unroll
    for (int i = 0; i < kRowBytes / 16; ++i) __stcs(reinterpret_cast<uint4*>(target + i * 512), uint4{});
    return;
  }
  mask >>= at / kRowBytes;
#pragma unroll
  for (int i = 0; i < kRowBytes / 16; ++i) {
    if ((mask >> (i * 512 / kRowBytes) & 1) != 0) __stcs(reinterpret_cast<uint4*>(target + i * 512), uint4{});
  }
}

// The same for rows of any multiple of 16 bytes.
__device__ __forceinline__ void store_zeros(char* rows, std::uint32_t mask, int row_bytes) {
  const int whole = 512 / row_bytes, rest = 512 % row_bytes;
  int row = threadIdx.x % 32 * 16 / row_bytes;
  int byte = threadIdx.x % 32 * 16 % row_bytes;
  char* target = rows + threadIdx.x % 32 * 16;
  for (; row < 32; target += 512) {
    if ((mask >> row & 1) != 0) __stcs(reinterpret_cast<uint4*>(target), uint4{});
    row += whole;
    byte += rest;
    if (byte >= row_bytes) {
      byte -= row_bytes;
      ++row;
    }
  }
}

// Clears the rows of O and LSE that no tile covers in the next window of 32 rows (position, head); the warps
// of a block share its windows. Uses ordinary stores: bulk stores would queue up in front of the loads of K
// and V. Returns false if no window was left.
template <class S>
__device__ __forceinline__ bool clear_window(const KernelParams& p, unsigned char* shared) {
  if (p.fill == nullptr) return false;
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t rows = static_cast<std::uint32_t>(p.batch) * p.sequence * p.heads;
  int turn = 0;
  if (lane == 0) turn = atomicAdd(reinterpret_cast<int*>(shared + S::kClearedAt), 1);
  const std::uint32_t window = blockIdx.x + static_cast<std::uint32_t>(uniform(turn)) * gridDim.x;
  if (window >= (rows + 31) / 32) return false;
  const std::uint32_t row = window * 32 + lane;
  const std::uint32_t token = row / p.heads;
  const HeadCover* cover = p.fill + (row - token * p.heads);
  const std::uint32_t position = token % p.sequence;
  const bool uncovered = row < rows && position % __ldg(&cover->segment_length) % __ldg(&cover->dilation) !=
                                           static_cast<std::uint32_t>(__ldg(&cover->offset));
  const std::uint32_t mask = __ballot_sync(0xFFFFFFFFu, uncovered);
  if (uncovered) p.lse[row] = -INFINITY;
  char* o = static_cast<char*>(p.o);
  if constexpr (S::kPadded) {
    const int row_bytes = p.head_dim * (p.o_fp32 != 0 ? 4 : 2);
    store_zeros(o + static_cast<std::uint64_t>(window) * (32 * row_bytes), mask, row_bytes);
  } else if (p.o_fp32 != 0) {
    store_zeros<S::kDim * 4>(o + static_cast<std::uint64_t>(window) * (32 * S::kDim * 4), mask);
  } else {
    store_zeros<S::kDim * 2>(o + static_cast<std::uint64_t>(window) * (32 * S::kDim * 2), mask);
  }
  return true;
}

// While this block computes, its two clearing warps pause between windows, so that its loads hardly wait.
// With few keys per tile they do not: memory is the limit in any case.
template <class S>
__device__ __forceinline__ void clear_beside(const KernelParams& p, unsigned char* shared) {
  const volatile int* finished = reinterpret_cast<const volatile int*>(shared + S::kFinishedAt);
  const bool paced = p.fill != nullptr && p.tile_count > 0 && p.tiles[0].key_count > kFewKeys;
  long long since = clock64();
  while (clear_window<S>(p, shared)) {
    while (paced && *finished == 0 && clock64() - since < kClearCycles) __nanosleep(100);
    since = clock64();
  }
}

}  // namespace hilbench::cuda
