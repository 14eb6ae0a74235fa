// Fetches blocks of K and V rows that a table lists, by 16-byte copies into the 128-byte swizzle that wgmma
// reads. For sm_90a only.
#pragma once

#include <cstdint>

#include "kernels/cuda/wgmma/hopper.cuh"

namespace hilbench::cuda {

// One warp's share of every block of kKeys rows, kDim elements of 16 bits each. Eight lanes copy 128
// contiguous bytes of a row: one instruction copies parts of four rows, and a lane needs one address per row,
// since all other distances are constant. Padded: rows have head_dim elements, kDim or fewer; zeros fill the
// last 128 bytes. The numbers of the rows go through shared memory, from which a lane reads those of its rows
// together. Rows past the end repeat the last one: their weight is 0, and a NaN or infinity in the last row
// is in the output in any case.
template <int kDim, bool kPadded, int kKeys, int kWarps>
class RowGather {
 public:
  static constexpr int kWarpRows = kKeys / kWarps;
  static constexpr int kTogether = 4;  // rows per instruction
  static constexpr int kTurns = kWarpRows / kTogether;
  // Of a warp's table. The numbers of an odd last turn are read by four.
  static constexpr int kWords = kTurns % 2 == 0 ? kWarpRows : (kTurns + 3) / 4 * 16;
  // Of two blocks: one to load, one whose V is to follow.
  static constexpr int kTableBytes = 2 * kWarps * kWords * 4;

  // `tables`: kTableBytes of shared memory.
  __device__ __forceinline__ RowGather(std::uint32_t tables, int head_dim) : head_dim_(head_dim) {
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread_));  // opaque: values derived from it are computed anew
    const std::uint32_t row = thread_ % 32 / 8;
    std::uint32_t swizzle = row;
    if constexpr (kWarpRows % 8 != 0) swizzle = (thread_ / 32 * kWarpRows + row) % 8;
    place_ = (thread_ / 32 * kWarpRows + row) * 128 + ((thread_ % 8 ^ swizzle) << 4);
    table_ = tables + thread_ / 32 * (kWords * 4);
  }

  // Starts to fetch the slots of the block of keys from `begin` on; `last` is the last key of the tile.
  __device__ __forceinline__ void fetch(const std::int32_t* slots, int begin, int last) {
#pragma unroll
    for (int i = 0; i < kFetches; ++i) {
      int key = begin + static_cast<int>(thread_ / 32 * kWarpRows + i * 32 + thread_ % 32);
      if constexpr (kWarpRows < 32)  // else all lanes have a row
        key = begin + static_cast<int>(thread_ / 32 * kWarpRows + min(thread_ % 32, kWarpRows - 1u));
      asm volatile("ld.global.nc.b32 %0, [%1];" : "=r"(slot_[i]) : "l"(slots + min(key, last)));
    }
  }

  // Stores the fetched slots as numbers of rows in the tensor, for block number `block` of all: slot s is row
  // first_row + s * row_step.
  __device__ __forceinline__ void keep(std::uint32_t block, std::uint32_t first_row,
                                       std::uint32_t row_step) const {
    const std::uint32_t table = table_ + block % 2 * (kWarps * kWords * 4);
#pragma unroll
    for (int i = 0; i < kFetches; ++i) {
      const std::uint32_t row = i * 32 + thread_ % 32;
      const std::uint32_t turn = row / kTogether;
      // The rows of four turns of a lane are next to each other.
      const std::uint32_t word = turn / 4 * 16 +
                                 row % kTogether * (turn / 4 * 4 + 4 <= kTurns || kTurns % 2 != 0 ? 4 : 2) +
                                 turn % 4;
      if (i * 32 + 32 <= kWarpRows || row < kWarpRows) {
        asm volatile("st.shared.b32 [%0], %1;" ::"r"(table + word * 4), "r"(first_row + slot_[i] * row_step)
                     : "memory");
      }
    }
  }

  // Starts to copy that block of `tensor` to `target`.
  __device__ __forceinline__ void load(const void* tensor, std::uint32_t block, std::uint32_t target) const {
    const std::uint32_t own = table_ + block % 2 * (kWarps * kWords * 4);
    const std::uint32_t row = thread_ % 32 / 8;
    const char* rows = static_cast<const char*>(tensor) + thread_ % 8 * 16;
    asm volatile("" : "+l"(rows));  // one register pair to add to
    // Of this lane's 16 bytes of the last 128 of a row.
    const std::uint32_t last = thread_ % 8 + (kColumnBlocks - 1) * 8 < head_dim_ / 8 ? 16 : 0;
    // The rows of every second turn are four further, which flips one bit of the swizzle.
    const std::uint32_t to[2] = {target + place_, (target + place_) ^ 64};
#pragma unroll
    for (int first = 0; first < kTurns; first += 4) {
      constexpr int kRest = kTurns % 4;
      const int count = first + 4 <= kTurns ? 4 : kRest;
      std::uint32_t number[4];
      if (count == 4 || !kByPairs) {
        load_shared(number, own + first * 16 + row * 16);
      } else {
        load_shared_pair(number, own + first * 16 + row * 8);
      }
#pragma unroll
      for (int i = 0; i < count; ++i) {
        const char* from = rows + static_cast<std::uint64_t>(number[i]) * row_bytes();
#pragma unroll
        for (int c = 0; c < kColumnBlocks; ++c) {
          const std::uint32_t place = to[i % 2] + (first + i) * (kTogether * 128) + c * (kKeys * 128);
          if (kPadded && c == kColumnBlocks - 1)
            copy_async(place, from + c * 128, kEvictLast, last);
          else
            copy_async(place, from + c * 128, kEvictLast);
        }
      }
    }
  }

 private:
  static constexpr int kColumnBlocks = (kDim + 63) / 64;
  static constexpr int kFetches = (kWarpRows + 31) / 32;
  static constexpr bool kByPairs = kTurns % 4 == 2;  // the numbers of the last two turns
  static_assert(kKeys % kWarps == 0 && kWarpRows % kTogether == 0, "whole turns");
  static_assert(kPadded || kDim % 64 == 0, "else lanes copy what follows a row");

  __device__ __forceinline__ std::uint32_t row_bytes() const {
    if constexpr (kPadded)
      return head_dim_ * 2;
    else
      return kDim * 2;
  }

  std::uint32_t head_dim_;
  std::uint32_t thread_;
  std::uint32_t place_;  // of this lane's first row in a block
  std::uint32_t table_;  // shared memory: this warp's part of the first table
  std::int32_t slot_[kFetches];
};

}  // namespace hilbench::cuda
