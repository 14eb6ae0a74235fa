// The producers: they fetch rows of Q, K and V from device memory into the stages in shared memory.
#pragma once

#include <cstdint>

#include "kernels/cuda/wgmma/hopper.cuh"
#include "kernels/cuda/wgmma/tensor_map.hpp"
#include "kernels/cuda/wgmma/wgmma_clear.cuh"
#include "kernels/cuda/wgmma/wgmma_tiling.cuh"

namespace hilbench::cuda {

// The address of row `index`, in one instruction.
__device__ __forceinline__ const char* row_address(std::uint32_t index, std::uint32_t row_bytes,
                                                   const char* rows) {
  std::uint64_t address;
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(address) : "r"(index), "r"(row_bytes), "l"(rows));
  return reinterpret_cast<const char*>(address);
}

// Fetches this warp's share of the Q rows of a tile: 32 rows at a time, one to four rows per instruction.
// Copies of the last row fill up the 64 rows of its group, because old contents of shared memory might be
// NaN; zeros fill up padded rows.
template <class S>
__device__ __forceinline__ void load_queries(const KernelParams& p, const ForwardTile& tile,
                                             std::uint32_t target, int warp, int warps) {
  constexpr int kRowChunks = S::kDim <= 64 ? 8 : S::kDim <= 128 ? 16 : 32;  // lanes of a row
  constexpr int kTogether = 32 / kRowChunks;
  int lane = threadIdx.x % 32;
  if constexpr (S::kGathered) asm volatile("" : "+r"(lane));  // computed per tile: saves registers
  const int chunk = lane % kRowChunks;
  const int head_bytes = head_dim<S>(p) * 2;
  const std::uint32_t row_bytes = p.heads * head_bytes;
  const char* q = static_cast<const char*>(p.q) +
                  (static_cast<std::int64_t>(tile.batch) * p.sequence * p.heads + tile.head) * head_bytes +
                  chunk * 16;
  target += chunk / 8 * (S::kRows * 128);
  for (int first = warp * 32; first < (tile.query_count + 63) / 64 * 64; first += warps * 32) {
    int slot = tile.query_first + min(first + lane, tile.query_count - 1) * p.query_step;
    if (p.q_slots != nullptr) slot = p.q_slots[slot];
#pragma unroll
    for (int i = 0; i < kRowChunks; i += 4) {
      const char* from[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const std::uint32_t source = __shfl_sync(0xFFFFFFFFu, slot, (i + j) * kTogether + lane / kRowChunks);
        from[j] = row_address(source, row_bytes, q);
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const std::uint32_t to =
            target + swizzled(first + (i + j) * kTogether + lane / kRowChunks, chunk % 8);
        if constexpr (!S::kPadded)
          copy_async(to, from[j], kEvictFirst);
        else if (chunk < S::kColumnBlocks * 8)
          copy_async(to, from[j], kEvictFirst, chunk * 16 < head_bytes ? 16 : 0);
      }
    }
  }
}

// The same by one lane, for Q without a table of slots. Rows past the last query are of no consequence.
template <class S>
__device__ __forceinline__ void load_strided_queries(const KernelParams& p, const StridedMaps& maps,
                                                     const ForwardTile& tile, std::uint32_t target,
                                                     std::uint32_t full) {
  const int groups = (tile.query_count + 63) / 64;
  const int residue = tile.query_first % p.query_step;
  const int row = tile.query_first / p.query_step;
  const CUtensorMap* map = &maps.q.map[residue < p.sequence % p.query_step ? 1 : 0];
  barrier_expect(full, groups * (64 * S::kRowBytes));
  for (int g = 0; g < groups; ++g) {
    for (int c = 0; c < S::kColumnBlocks; ++c) {
      tma_load(target + c * (S::kRows * 128) + g * (64 * 128), map, full, kEvictFirst, c * 64, residue,
               row + g * 64, tile.head, tile.batch);
    }
  }
}

// Boxes: fetches part `number` of all boxes, of one head and batch entry. A box has `kParts` parts of `kRows`
// rows, cut where it is more than one position long.
template <class S, int kParts, int kRows>
__device__ __forceinline__ void load_box(const GridBoxes& boxes, const CUtensorMap* map, int number, int head,
                                         int batch, std::uint32_t target, std::uint32_t full,
                                         std::uint64_t policy) {
  static_assert(kParts <= 2, "halves of a power of two");
  const int columns = boxes.extents[2] / boxes.box[2], rows = boxes.extents[1] / boxes.box[1];
  const int part = number % kParts;
  number /= kParts;
  const int row = number / columns, plane = row / rows;
  int at[3] = {batch * boxes.extents[0] + plane * boxes.box[0], (row - plane * rows) * boxes.box[1],
               (number - row * columns) * boxes.box[2]};
  if (part != 0) {
    if (boxes.box[0] > 1)
      at[0] += boxes.box[0] / 2;
    else if (boxes.box[1] > 1)
      at[1] += boxes.box[1] / 2;
    else
      at[2] += boxes.box[2] / 2;
  }
#pragma unroll
  for (int c = 0; c < S::kColumnBlocks; ++c)
    tma_load(target + c * (kRows * 128), map, full, policy, c * 64, head, at[2], at[1], at[0]);
}

// Fetches the rows of Q of a tile by `warps` warps, of which this is number `warp`; every thread arrives.
template <class S>
__device__ __forceinline__ void fetch_queries(const typename S::Params& p, const StridedMaps& maps,
                                              const ForwardTile& tile, std::uint32_t target,
                                              std::uint32_t full, int warp, int warps) {
  if constexpr (S::kBoxes) {
    if (reads_boxes<S>(p)) {
      if (threadIdx.x % 32 == 0) {
        barrier_expect(full, S::kQBytes);
        load_box<S, 1, S::kRows>(p.windows.boxes, &maps.q.map[0], tile.query_first / S::kRows, tile.head,
                                 tile.batch, target, full, kEvictFirst);
      }
      __syncwarp();
      barrier_arrive(full);
      return;
    }
  }
  if (p.q_slots == nullptr) {
    if (warp == 0 && threadIdx.x % 32 == 0) load_strided_queries<S>(p, maps, tile, target, full);
    __syncwarp();
    barrier_arrive(full);
  } else {
    load_queries<S>(p, tile, target, warp, warps);
    barrier_arrive_copies(full);
  }
}

// Strided rows: fetches one block of K or V from row `row` of a residue on.
template <class S>
__device__ __forceinline__ void load_block(const CUtensorMap* map, const ForwardTile& tile, int residue,
                                           int row, std::uint32_t target, std::uint32_t full) {
  barrier_arrive_expect(full, S::kBlockBytes);
  for (int c = 0; c < S::kColumnBlocks; ++c) {
    tma_load(target + c * (S::kKeys * 128), map, full, kEvictLast, c * 64, residue, row, tile.kv_head,
             tile.batch);
  }
}

// The blocks of strided rows of a tile. All keys that produce_blocks() takes are as these: begin() takes a
// tile, next() gives its next block from the one before, load() fetches the K or V of a block.
template <class S>
class StridedKeys {
 public:
  using Block = int;  // the row where it begins
  __device__ __forceinline__ StridedKeys(const KernelParams& p, const StridedMaps& maps)
      : p_(p), maps_(maps) {}

  __device__ __forceinline__ void begin(const ForwardTile& tile, int blocks) {
    residue_ = tile.key_slot % p_.key_slot_step;
    which_ = residue_ < p_.kv_rows % p_.key_slot_step ? 1 : 0;
    step_ = tile.keys_backwards != 0 ? -S::kKeys : S::kKeys;
    row_ = tile.key_slot / p_.key_slot_step + (tile.keys_backwards != 0 ? (blocks - 1) * S::kKeys : 0);
  }
  __device__ __forceinline__ Block next(Block) {
    const int row = row_;
    row_ += step_;
    return row;
  }
  template <bool kValues>
  __device__ __forceinline__ void load(const ForwardTile& tile, Block row, std::uint32_t target,
                                       std::uint32_t full) const {
    load_block<S>(&(kValues ? maps_.v : maps_.k).map[which_], tile, residue_, row, target, full);
  }

 private:
  const KernelParams& p_;
  const StridedMaps& maps_;
  int residue_, which_, step_, row_;
};

// Windows with aligned keys: the blocks of slots, or the boxes, that the tile lists, each in kMaskParts
// parts.
template <class S>
class ListedKeys {
 public:
  using Block = int;  // the number of the part
  __device__ __forceinline__ ListedKeys(const WindowParams& p, const StridedMaps& maps)
      : p_(p), maps_(maps) {}

  __device__ __forceinline__ void begin(const ForwardTile& tile, int blocks) {
    step_ = tile.keys_backwards != 0 ? -1 : 1;
    left_ = blocks;
    const int first = tile.keys_backwards != 0 ? blocks - 1 : 0;
    number_ = p_.windows.key_blocks + tile.key_position + first / S::kMaskParts;
    part_ = first % S::kMaskParts;
    next_ = blocks > 0 ? load_part() : 0;  // one block ahead
  }
  __device__ __forceinline__ Block next(Block) {
    const int block = next_;
    if constexpr (S::kMaskParts == 1) {
      number_ += step_;
    } else {
      part_ += step_;
      if (part_ < 0 || part_ == S::kMaskParts) {
        number_ += step_;
        part_ -= step_ * S::kMaskParts;
      }
    }
    if (--left_ > 0) next_ = load_part();
    return block;
  }
  template <bool kValues>
  __device__ __forceinline__ void load(const ForwardTile& tile, Block block, std::uint32_t target,
                                       std::uint32_t full) const {
    const CUtensorMap* map = &(kValues ? maps_.v : maps_.k).map[0];
    if (reads_boxes<S>(p_)) {
      barrier_arrive_expect(full, S::kBlockBytes);
      load_box<S, S::kMaskParts, S::kKeys>(p_.windows.boxes, map, block, tile.kv_head, tile.batch, target,
                                           full, kEvictLast);
    } else {
      load_block<S>(map, tile, 0, block * S::kKeys, target, full);
    }
  }

 private:
  __device__ __forceinline__ int load_part() const {
    return S::kMaskParts == 1 ? load_number(number_) : load_number(number_) * S::kMaskParts + part_;
  }

  const WindowParams& p_;
  const StridedMaps& maps_;
  const std::int32_t* number_;  // of a block
  int part_ = 0;                // of that block
  int step_, left_, next_;
};

// One lane: fetches the blocks of keys of every tile, each V with the K after it.
template <class S, class Keys>
__device__ __forceinline__ void produce_blocks(Keys keys, unsigned char* shared, std::uint32_t base) {
  Stages<S::kTileSlots> tiles;
  Stages<S::kKStages> k;
  Stages<S::kVStages> v;
  while (true) {
    const ForwardTile& tile = next_tile<S>(shared, base, tiles);
    if (tile.query_count == 0) return;
    const int blocks = key_blocks<S>(tile);
    keys.begin(tile, blocks);
    typename Keys::Block block{};
    for (int i = 0; i <= blocks; ++i) {
      if (i == max(0, blocks - S::kClaimAhead)) barrier_arrive(base + S::kClaim);
      const typename Keys::Block before = block;
      if (i < blocks) {
        block = keys.next(block);
        barrier_wait(base + S::kKEmpty + 8 * k.stage, k.parity ^ 1);
        keys.template load<false>(tile, block, base + S::kKAt + k.stage * S::kBlockBytes,
                                  base + S::kKFull + 8 * k.stage);
        k.advance();
      }
      if (i > 0) {
        barrier_wait(base + S::kVEmpty + 8 * v.stage, v.parity ^ 1);
        keys.template load<true>(tile, before, base + S::kVAt + v.stage * S::kBlockBytes,
                                 base + S::kVFull + 8 * v.stage);
        v.advance();
      }
    }
    barrier_arrive(base + S::kTileEmpty + 8 * tiles.stage);
    tiles.advance();
  }
}

// One warp: claims tiles, each when the tile before is nearly loaded, and fetches their Q.
template <class S>
__device__ __forceinline__ void produce_queries(const typename S::Params& p, const StridedMaps& maps,
                                                unsigned char* shared, std::uint32_t base) {
  Stages<S::kTileSlots> tiles;
  Stages<S::kQStages> q;
  Claims<S> claims;
  std::uint32_t parity = 1;  // the first claim waits for nothing
  while (true) {
    barrier_wait(base + S::kClaim, parity);
    parity ^= 1;
    if (threadIdx.x % 32 == 0) claims.claim(p, shared, base);
    __syncwarp();
    const ForwardTile& tile = next_tile<S>(shared, base, tiles);
    if (tile.query_count == 0) return;
    barrier_wait(base + S::kQEmpty + 8 * q.stage, q.parity ^ 1);
    fetch_queries<S>(p, maps, tile, base + S::kQAt + q.stage * S::kQBytes, base + S::kQFull + 8 * q.stage, 0,
                     1);
    q.advance();
    __syncwarp();
    if (threadIdx.x % 32 == 0) barrier_arrive(base + S::kTileEmpty + 8 * tiles.stage);
    tiles.advance();
  }
}

// The rows of a tile that a table lists. All keys that produce_gathered() takes are as these: begin() starts
// to fetch the slots of a tile's first block, keep() stores those of a block, advance() starts to fetch those
// of the next block, if there is one. k() and v() are the tensors that hold the rows of the block, v_before()
// the one that holds those of the block before.
template <class S>
class GatheredKeys {
 public:
  __device__ __forceinline__ explicit GatheredKeys(const typename S::Params& p) : p_(p) {}

  __device__ __forceinline__ void begin(typename S::Gather& rows, const ForwardTile& tile) {
    begin_ = tile.keys_backwards != 0 ? (key_blocks<S>(tile) - 1) * S::kKeys : 0;
    if (tile.key_count > 0) rows.fetch(p_.key_slots + tile.key_begin, begin_, tile.key_count - 1);
  }
  __device__ __forceinline__ void keep(typename S::Gather& rows, const ForwardTile& tile,
                                       std::uint32_t block) {
    rows.keep(block, static_cast<std::uint32_t>(tile.batch) * p_.kv_rows * p_.kv_heads + tile.kv_head,
              p_.kv_heads);
  }
  __device__ __forceinline__ void advance(typename S::Gather& rows, const ForwardTile& tile, bool more) {
    begin_ += tile.keys_backwards != 0 ? -S::kKeys : S::kKeys;
    if (more) rows.fetch(p_.key_slots + tile.key_begin, begin_, tile.key_count - 1);
  }
  __device__ __forceinline__ const void* k() const { return p_.k; }
  __device__ __forceinline__ const void* v() const { return p_.v; }
  __device__ __forceinline__ const void* v_before() const { return p_.v; }

 private:
  const typename S::Params& p_;
  int begin_ = 0;
};

// Every producer warp fetches its share of Q, K and V; the first one also claims tiles, one ahead. The slots
// of a block are fetched together with the block before it; those of a tile's first block together with the
// last block of the tile before. Stages and parities follow from the numbers of tile and block.
template <class S, class Keys>
__device__ __forceinline__ void produce_gathered(Keys keys, const typename S::Params& p,
                                                 const StridedMaps& maps, unsigned char* shared,
                                                 std::uint32_t base) {
  typename S::Gather rows(base + S::kSlotAt, head_dim<S>(p));
  std::uint32_t number = 0;  // of the tile
  std::uint32_t block = 0;   // of all tiles
  const auto load_keys = [&](std::uint32_t passed) {
    const auto at = Stages<S::kKStages>::at(passed);
    barrier_wait(base + S::kKEmpty + 8 * at.stage, at.parity ^ 1);
    rows.load(keys.k(), passed, base + S::kKAt + at.stage * S::kBlockBytes);
    barrier_arrive_copies(base + S::kKFull + 8 * at.stage);
  };
  const auto load_values = [&](const void* values, std::uint32_t passed) {
    const auto at = Stages<S::kVStages>::at(passed);
    barrier_wait(base + S::kVEmpty + 8 * at.stage, at.parity ^ 1);
    rows.load(values, passed, base + S::kVAt + at.stage * S::kBlockBytes);
    barrier_arrive_copies(base + S::kVFull + 8 * at.stage);
  };
  const auto claim = [&](std::uint32_t passed) {
    if (threadIdx.x == 0) Claims<S>{Stages<S::kTileSlots>::at(passed)}.claim(p, shared, base);
    __syncwarp();
  };
  claim(0);
  const ForwardTile* tile = &next_tile<S>(shared, base, Stages<S::kTileSlots>::at(0));
  keys.begin(rows, *tile);
  while (uniform(tile->query_count) != 0) {
    const auto q = Stages<S::kQStages>::at(number);
    barrier_wait(base + S::kQEmpty + 8 * q.stage, q.parity ^ 1);
    fetch_queries<S>(p, maps, *tile, base + S::kQAt + q.stage * S::kQBytes, base + S::kQFull + 8 * q.stage,
                     uniform(threadIdx.x / 32), S::kProducerWarps);
    const int blocks = uniform(key_blocks<S>(*tile));
    for (int i = 0; i < blocks; ++i, ++block) {
      __syncwarp();  // all lanes have read what is overwritten now
      keys.keep(rows, *tile, block);
      __syncwarp();
      keys.advance(rows, *tile, i + 1 < blocks);
      load_keys(block);
      if (i > 0) {
        load_values(keys.v_before(), block - 1);
      } else {
        claim(number + 1);
      }
      if constexpr (!S::kSources)
        if (i % S::kProducerWarps == uniform(threadIdx.x / 32)) clear_window<S>(p, shared);
    }
    if (blocks == 0) claim(number + 1);
    ++number;
    const void* values = keys.v();  // of the last block
    tile = &next_tile<S>(shared, base, Stages<S::kTileSlots>::at(number));
    keys.begin(rows, *tile);
    if (blocks > 0) load_values(values, block - 1);
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
      barrier_arrive(base + S::kTileEmpty + 8 * Stages<S::kTileSlots>::at(number - 1).stage);
    }
  }
}

}  // namespace hilbench::cuda
