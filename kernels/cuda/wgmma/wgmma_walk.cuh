// The producers of a launch that walks the keys of several sources: before they read keys of a received shard
// they wait until its chunk has arrived.
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
__device__ __forceinline__ void load_walked(const StridedRows& own, const StridedRows& received,
                                            const WalkedBlock& block, int head, std::uint32_t target,
                                            std::uint32_t full) {
  const CUtensorMap* map = (block.received ? received.map : own.map) + block.which;
  barrier_arrive_expect(full, S::kBlockBytes);
  for (int c = 0; c < S::kDim / 64; ++c) {
    tma_load(target + c * (S::kKeys * 128), map, full, kEvictLast, c * 64, block.residue, block.row, head,
             block.batch);
  }
}

// As produce_strided().
template <class S>
__device__ __forceinline__ void produce_walk(const WalkParams& p, const WalkMaps& maps, unsigned char* shared,
                                             std::uint32_t base) {
  Stages<S::kTileSlots> tiles;
  Stages<S::kKStages> k;
  Stages<S::kVStages> v;
  Arrivals arrivals;
  while (true) {
    const ForwardTile& tile = next_tile<S>(shared, base, tiles);
    if (tile.query_count == 0) return;
    const int blocks = key_blocks<S>(tile);
    const KeyStretch* next = p.walk.stretches + tile.key_begin;
    WalkedBlock block{};
    int left = 0;  // keys of the stretch that are still to come
    for (int i = 0; i <= blocks; ++i) {
      if (i == max(0, blocks - S::kClaimAhead)) barrier_arrive(base + S::kClaim);
      const WalkedBlock before = block;
      if (i < blocks) {
        block.row += S::kKeys;
        if (left <= 0) {
          const int source = __ldg(&next->source);
          const int slot = __ldg(&next->key_slot);
          left = __ldg(&next->key_count);
          ++next;
          block.received = source != 0;
          const int step = block.received ? p.walk.key_slot_step : p.key_slot_step;
          block.residue = slot % step;
          block.row = slot / step;
          block.which = block.residue < (block.received ? p.walk.kv_rows : p.kv_rows) % step ? 1 : 0;
          block.batch = tile.batch + max(0, source - 1) * p.batch;
          arrivals.wait(p, source, tile);
        }
        left -= S::kKeys;
        barrier_wait(base + S::kKEmpty + 8 * k.stage, k.parity ^ 1);
        load_walked<S>(maps.k, maps.received_k, block, tile.kv_head,
                       base + S::kKAt + k.stage * S::kBlockBytes, base + S::kKFull + 8 * k.stage);
        k.advance();
      }
      if (i > 0) {
        barrier_wait(base + S::kVEmpty + 8 * v.stage, v.parity ^ 1);
        load_walked<S>(maps.v, maps.received_v, before, tile.kv_head,
                       base + S::kVAt + v.stage * S::kBlockBytes, base + S::kVFull + 8 * v.stage);
        v.advance();
      }
    }
    barrier_arrive(base + S::kTileEmpty + 8 * tiles.stage);
    tiles.advance();
  }
}

// As produce_gathered().
template <class S>
__device__ __forceinline__ void produce_gathered_walk(const WalkParams& p, const WalkMaps& maps,
                                                      unsigned char* shared, std::uint32_t base) {
  typename S::Gather rows(base + S::kSlotAt);
  Arrivals arrivals;
  std::uint32_t number = 0;  // of the tile
  std::uint32_t block = 0;   // of all tiles
  const KeyStretch* stretch = nullptr;
  int begin = 0;
  bool received = false, received_before = false;  // the block, and the one before it
  const auto fetch = [&] {
    rows.fetch(p.key_slots + __ldg(&stretch->key_begin), begin, __ldg(&stretch->key_count) - 1);
  };
  const auto fetch_first = [&](const ForwardTile& tile) {
    stretch = p.walk.stretches + tile.key_begin;
    begin = 0;
    if (tile.key_count > 0) fetch();
  };
  const auto load_values = [&](bool from_received, std::uint32_t passed) {
    const auto at = Stages<S::kVStages>::at(passed);
    barrier_wait(base + S::kVEmpty + 8 * at.stage, at.parity ^ 1);
    rows.load(from_received ? p.walk.v : p.v, passed, base + S::kVAt + at.stage * S::kBlockBytes);
    barrier_arrive_copies(base + S::kVFull + 8 * at.stage);
  };
  const auto claim = [&](std::uint32_t passed) {
    if (threadIdx.x == 0) Claims<S>{Stages<S::kTileSlots>::at(passed)}.claim(p, shared, base);
    __syncwarp();
  };
  claim(0);
  const ForwardTile* tile = &next_tile<S>(shared, base, Stages<S::kTileSlots>::at(0));
  fetch_first(*tile);
  while (uniform(tile->query_count) != 0) {
    const auto q = Stages<S::kQStages>::at(number);
    barrier_wait(base + S::kQEmpty + 8 * q.stage, q.parity ^ 1);
    fetch_queries<S>(p, maps, *tile, base + S::kQAt + q.stage * S::kQBytes, base + S::kQFull + 8 * q.stage,
                     uniform(threadIdx.x / 32), S::kProducerWarps);
    const int blocks = uniform(key_blocks<S>(*tile));
    for (int i = 0; i < blocks; ++i, ++block) {
      const int source = uniform(__ldg(&stretch->source));
      const std::uint32_t entry = tile->batch + max(0, source - 1) * p.batch;
      received_before = received;
      received = source != 0;
      __syncwarp();  // all lanes have read what is overwritten now
      if (received && p.walk.heads_first)
        rows.keep(block, (entry * p.kv_heads + tile->kv_head) * p.walk.kv_rows, 1);
      else
        rows.keep(block, entry * (received ? p.walk.kv_rows : p.kv_rows) * p.kv_heads + tile->kv_head,
                  p.kv_heads);
      if (threadIdx.x % 32 == 0 && begin == 0) arrivals.wait(p, source, *tile);
      __syncwarp();
      begin += S::kKeys;
      if (begin >= uniform(__ldg(&stretch->key_count))) {
        ++stretch;
        begin = 0;
      }
      if (i + 1 < blocks) fetch();
      const auto at = Stages<S::kKStages>::at(block);
      barrier_wait(base + S::kKEmpty + 8 * at.stage, at.parity ^ 1);
      rows.load(received ? p.walk.k : p.k, block, base + S::kKAt + at.stage * S::kBlockBytes);
      barrier_arrive_copies(base + S::kKFull + 8 * at.stage);
      if (i > 0)
        load_values(received_before, block - 1);
      else
        claim(number + 1);
    }
    if (blocks == 0) claim(number + 1);
    ++number;
    tile = &next_tile<S>(shared, base, Stages<S::kTileSlots>::at(number));
    fetch_first(*tile);
    if (blocks > 0) load_values(received, block - 1);
    __syncwarp();
    if (threadIdx.x % 32 == 0)
      barrier_arrive(base + S::kTileEmpty + 8 * Stages<S::kTileSlots>::at(number - 1).stage);
  }
}

}  // namespace hilbench::cuda
