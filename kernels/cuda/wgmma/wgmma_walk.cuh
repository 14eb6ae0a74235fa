// The keys of a launch that walks those of several sources: before keys of a received shard are read, its
// chunk must have arrived.
#pragma once

#include <cstdint>

#include "kernels/cuda/wgmma/hopper.cuh"
#include "kernels/cuda/wgmma/tensor_map.hpp"
#include "kernels/cuda/wgmma/wgmma_load.cuh"
#include "kernels/cuda/wgmma/wgmma_tiling.cuh"

namespace hilbench::cuda {

// Words that streams of other devices set have system scope. The acquiring load makes what was written before
// the word visible; the relaxed one does not, and is for looking again and again.
__device__ __forceinline__ std::uint32_t load_acquired(const std::uint32_t* word) {
  std::uint32_t value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}
__device__ __forceinline__ std::uint32_t load_relaxed(const std::uint32_t* word) {
  std::uint32_t value;
  asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}

__device__ __forceinline__ std::uint64_t nanoseconds() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// What one thread knows of the received shards. For a shard that is complete wait() reads no memory.
class Arrivals {
 public:
  // Returns when the chunk of `source` with the tile's batch entry and K/V head has arrived, and all chunks
  // before it.
  __device__ __forceinline__ void wait(const WalkParams& p, int source, const ForwardTile& tile) {
    // Own keys, or a shard that is complete: the flags of 31 shards fit in a word.
    if (source == 0 || (complete_ >> min(source, 32) - 1 & 1) != 0) return;
    const ArrivalChunks& chunks = p.walk.chunks;
    const std::uint32_t* flag = p.walk.arrived + (source - 1);
    if (!comes(p.walk, source, flag, tile.batch * chunks.head_chunks + tile.kv_head / chunks.heads + 1))
      complete_ = ~0u;  // bit 31 is for all further sources: this thread waits no more
    else if (const int here = static_cast<int>(load_acquired(flag) - p.walk.first);
             source < 32 && here >= p.batch * chunks.head_chunks)
      complete_ |= 1u << (source - 1);
    // Bulk copies read through another proxy than the load of the flag.
    asm volatile("fence.proxy.async.global;" ::: "memory");
  }

 private:
  // False if this thread, or another one of the launch, has given up.
  static __device__ __forceinline__ bool comes(const WalkTables& walk, int source, const std::uint32_t* flag,
                                               int chunks) {
    // Looks at the flag between two looks at host memory: some milliseconds. Over a hundred threads wait, and
    // their loads from the host stand in the way of everything else if they come every few microseconds.
    constexpr int kTurns = 4096;
    std::uint64_t begin = 0;
    for (int turn = 0; static_cast<int>(load_relaxed(flag) - walk.first) < chunks; ++turn) {
      if (turn == 0) begin = nanoseconds();
      if (turn % kTurns == kTurns - 1) {
        if (load_relaxed(walk.gave_up) != 0) return false;
        if (nanoseconds() - begin > walk.patience_ns ||
            (walk.ended != nullptr && load_relaxed(walk.ended) != 0)) {
          *static_cast<volatile std::uint32_t*>(walk.gave_up) = source;
          return false;
        }
      }
      __nanosleep(turn < 8 ? 40 : 400);
    }
    return true;
  }

  std::uint32_t complete_ = 0;  // bit s - 1: all of source s has arrived
};

// A block of strided keys of one source.
struct WalkedBlock {
  bool received;
  int which;  // of two maps
  int residue, row, batch;
};

template <class S>
class WalkedKeys {
 public:
  using Block = WalkedBlock;
  __device__ __forceinline__ WalkedKeys(const WalkParams& p, const WalkMaps& maps) : p_(p), maps_(maps) {}

  __device__ __forceinline__ void begin(const ForwardTile& tile, int) {
    tile_ = &tile;
    stretch_ = p_.walk.stretches + tile.key_begin;
    left_ = 0;
  }
  __device__ __forceinline__ Block next(Block block) {
    block.row += S::kKeys;
    if (left_ <= 0) {
      const int source = __ldg(&stretch_->source);
      const int slot = __ldg(&stretch_->key_slot);
      left_ = __ldg(&stretch_->key_count);
      ++stretch_;
      block.received = source != 0;
      const int step = block.received ? p_.walk.key_slot_step : p_.key_slot_step;
      block.residue = slot % step;
      block.row = slot / step;
      block.which = block.residue < (block.received ? p_.walk.kv_rows : p_.kv_rows) % step ? 1 : 0;
      block.batch = tile_->batch + max(0, source - 1) * p_.batch;
      arrivals_.wait(p_, source, *tile_);
    }
    left_ -= S::kKeys;
    return block;
  }
  template <bool kValues>
  __device__ __forceinline__ void load(const ForwardTile& tile, const Block& block, std::uint32_t target,
                                       std::uint32_t full) const {
    const StridedRows& own = kValues ? maps_.v : maps_.k;
    const StridedRows& received = kValues ? maps_.received_v : maps_.received_k;
    const CUtensorMap* map = (block.received ? received.map : own.map) + block.which;
    barrier_arrive_expect(full, S::kBlockBytes);
    for (int c = 0; c < S::kColumnBlocks; ++c) {
      tma_load(target + c * (S::kKeys * 128), map, full, kEvictLast, c * 64, block.residue, block.row,
               tile.kv_head, block.batch);
    }
  }

 private:
  const WalkParams& p_;
  const WalkMaps& maps_;
  const ForwardTile* tile_;
  const KeyStretch* stretch_;
  int left_;  // keys of the stretch that are still to come
  Arrivals arrivals_;
};

template <class S>
class GatheredWalkedKeys {
 public:
  __device__ __forceinline__ explicit GatheredWalkedKeys(const WalkParams& p) : p_(p) {}

  __device__ __forceinline__ void begin(typename S::Gather& rows, const ForwardTile& tile) {
    stretch_ = p_.walk.stretches + tile.key_begin;
    begin_ = 0;
    if (tile.key_count > 0) fetch(rows);
  }
  __device__ __forceinline__ void keep(typename S::Gather& rows, const ForwardTile& tile,
                                       std::uint32_t block) {
    const int source = uniform(__ldg(&stretch_->source));
    const std::uint32_t entry = tile.batch + max(0, source - 1) * p_.batch;
    received_before_ = received_;
    received_ = source != 0;
    if (received_ && p_.walk.heads_first)
      rows.keep(block, (entry * p_.kv_heads + tile.kv_head) * p_.walk.kv_rows, 1);
    else
      rows.keep(block, entry * (received_ ? p_.walk.kv_rows : p_.kv_rows) * p_.kv_heads + tile.kv_head,
                p_.kv_heads);
    if (threadIdx.x % 32 == 0 && begin_ == 0) arrivals_.wait(p_, source, tile);
  }
  __device__ __forceinline__ void advance(typename S::Gather& rows, const ForwardTile&, bool more) {
    begin_ += S::kKeys;
    if (begin_ >= uniform(__ldg(&stretch_->key_count))) {
      ++stretch_;
      begin_ = 0;
    }
    if (more) fetch(rows);
  }
  __device__ __forceinline__ const void* k() const { return received_ ? p_.walk.k : p_.k; }
  __device__ __forceinline__ const void* v() const { return received_ ? p_.walk.v : p_.v; }
  __device__ __forceinline__ const void* v_before() const { return received_before_ ? p_.walk.v : p_.v; }

 private:
  __device__ __forceinline__ void fetch(typename S::Gather& rows) const {
    rows.fetch(p_.key_slots + __ldg(&stretch_->key_begin), begin_, __ldg(&stretch_->key_count) - 1);
  }

  const WalkParams& p_;
  Arrivals arrivals_;
  const KeyStretch* stretch_ = nullptr;
  int begin_ = 0;
  bool received_ = false, received_before_ = false;  // the block, and the one before it
};

}  // namespace hilbench::cuda
