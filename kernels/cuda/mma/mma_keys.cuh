// Copies rows of K and V from device memory into shared memory.
#pragma once

#include <cstdint>

#include "kernels/cuda/mma/mma.cuh"
#include "kernels/cuda/mma/mma_tiling.cuh"

namespace hilbench::cuda {

// How the slots of keys are found: by a fixed step from the first, or in a table. windows: in a table, and
// masks say which query sees which key.
enum class Rows { strided, gathered, windows };

// Copies kCount rows into swizzled shared memory, row r from `head` + slot(r) * slot_bytes; rows from `valid`
// on become zeros.
template <class Tile, int kCount, class Slot>
__device__ __forceinline__ void copy_rows(std::uint32_t shared, const char* head, std::int32_t slot_bytes,
                                          int valid, Slot slot) {
  constexpr int kCopies = kCount * Tile::kChunks;
  constexpr int kPasses = (kCopies + Tile::kThreads - 1) / Tile::kThreads;
  // If one pass of all threads copies whole rows, each thread keeps its chunk.
  constexpr bool kWholeRows = Tile::kThreads % Tile::kChunks == 0;
  const int thread = threadIdx.x;
  const auto row = [&](int pass) {
    return kWholeRows ? thread / Tile::kChunks + pass * (Tile::kThreads / Tile::kChunks)
                      : (pass * Tile::kThreads + thread) / Tile::kChunks;
  };
  std::int32_t slots[kPasses];
#pragma unroll
  for (int i = 0; i < kPasses; ++i)
    slots[i] = slot(kCopies % Tile::kThreads == 0 ? row(i) : min(row(i), kCount - 1));
#pragma unroll
  for (int i = 0; i < kPasses; ++i) {
    const int copy = i * Tile::kThreads + thread;
    if (kCopies % Tile::kThreads != 0 && copy >= kCopies) break;
    const int r = row(i);
    const int chunk = (kWholeRows ? thread : copy) % Tile::kChunks;
    copy_async_16(shared + r * Tile::kRowBytes + ((chunk ^ swizzle<Tile>(r)) << 4),
                  head + chunk * 16 + multiply_wide(slots[i], slot_bytes), r < valid);
  }
}

// The keys of a tile and their copies into the ring.
template <class Tile, Rows kRowMap>
struct KeyStream {
  const char* k;  // slot 0 of the tile's K/V head and batch entry
  const char* v;
  std::int32_t slot_bytes;    // between slots
  const std::int32_t* slots;  // gathered: entry of key 0
  std::int32_t slot;          // strided: slot of key 0
  std::int32_t slot_step;
  std::int32_t count;
  std::int32_t blocks;
  bool backwards;
  std::uint32_t shared_slots;  // ring of blocks of entries
  std::uint32_t shared_ring;
  std::uint32_t next;  // ring position, in bytes, of the next copy
  std::uint32_t used;  // and of the next block to read

  // First key of block number `visit` in the sequence of visits.
  __device__ __forceinline__ int first_key(int visit) const {
    return (backwards ? blocks - 1 - visit : visit) * Tile::kKeys;
  }

  __device__ __forceinline__ std::uint32_t slot_address(int visit) const {
    return shared_slots + (visit % Tile::kSlotBlocks) * Tile::kSlotBytes;
  }

  // Copies the slots of a block while copies of rows are under way.
  __device__ __forceinline__ void prefetch_slots(int visit) const {
    if (kRowMap == Rows::strided || visit >= blocks) return;
    static_assert(Tile::kKeys <= Tile::kThreads);
    const int r = threadIdx.x;
    const int key = first_key(visit) + r;
    if (r < Tile::kKeys && key < count) copy_async_4(slot_address(visit) + r * 4, slots + key);
  }

  __device__ __forceinline__ void copy(const char* head, int visit) {
    const int first = first_key(visit);
    const auto copy_slots = [&](auto slot_of) {
      copy_rows<Tile, Tile::kKeys>(shared_ring + next, head, slot_bytes, count - first, slot_of);
    };
    if constexpr (kRowMap == Rows::strided) {
      const std::int32_t first_slot = slot + first * slot_step;
      copy_slots([&](int r) { return first_slot + r * slot_step; });
    } else {
      const std::uint32_t entries = slot_address(visit);
      copy_slots([&](int r) { return load_shared(entries + r * 4); });
    }
    next = next == (Tile::kRing - 1) * Tile::kBlockBytes ? 0 : next + Tile::kBlockBytes;
  }

  __device__ __forceinline__ void copy_k(int visit) {
    if (visit < blocks) {
      copy(k, visit);
      if (visit > 0) prefetch_slots(visit + 1);
    }
    commit_copies();
  }

  __device__ __forceinline__ void copy_v(int visit) {
    if (visit < blocks) copy(v, visit);
    commit_copies();
  }

  // Waits for the oldest block under way. After the barrier all warps have also finished with the block
  // before it, whose place the next copy takes.
  __device__ __forceinline__ std::uint32_t wait() {
    wait_copies<1>();
    __syncthreads();
    const std::uint32_t address = shared_ring + used;
    used = used == (Tile::kRing - 1) * Tile::kBlockBytes ? 0 : used + Tile::kBlockBytes;
    return address;
  }
};

}  // namespace hilbench::cuda
