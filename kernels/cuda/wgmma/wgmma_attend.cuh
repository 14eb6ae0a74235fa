// The consumers: attention of 64 query rows of a tile by one warp group.
#pragma once

#include <cstdint>

#include "kernels/cuda/wgmma/hopper.cuh"
#include "kernels/cuda/wgmma/tensor_map.hpp"
#include "kernels/cuda/wgmma/wgmma_products.cuh"
#include "kernels/cuda/wgmma/wgmma_recall.cuh"
#include "kernels/cuda/wgmma/wgmma_rows.cuh"
#include "kernels/cuda/wgmma/wgmma_softmax.cuh"
#include "kernels/cuda/wgmma/wgmma_store.cuh"
#include "kernels/cuda/wgmma/wgmma_tiling.cuh"

namespace hilbench::cuda {

// Clears rows of V past the last key: P is 0 there, but 0 times an infinity of another segment is NaN. Every
// group clears them for itself.
template <class S>
__device__ __forceinline__ void clear_values(std::uint32_t v, int rows, int group) {
  const int thread = threadIdx.x % kGroupThreads;
  constexpr int kRowChunks = S::kColumnBlocks * 8;  // the chunks of a block change places from row to row
  for (int i = rows * kRowChunks + thread; i < S::kKeys * kRowChunks; i += kGroupThreads) {
    const int row = i / kRowChunks;
    const int chunk = i % kRowChunks;
    asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};" ::"r"(v + chunk / 8 * (S::kKeys * 128) +
                                                                  row * 128 + chunk % 8 * 16),
                 "r"(0)
                 : "memory");
  }
  fence_proxy_async();
  named_sync(1 + S::kConsumers + group, kGroupThreads);
}

template <class S>
struct Consumer {
  const typename S::Params& p;
  const StridedMaps& maps;
  unsigned char* shared;
  std::uint32_t base;
  int group;
  Stages<S::kTileSlots> tiles;
  Stages<S::kQStages> q;
  Stages<S::kKStages> k;
  Stages<S::kVStages> v;
  int held;  // the stage of Q from which this warp stores its O, or -1

  // If threads fill the stages, every thread that may have read one (repeat_scores) releases it itself.
  __device__ __forceinline__ void release(std::uint32_t barrier) const {
    if (S::kGathered || threadIdx.x % 32 == 0) barrier_arrive(barrier);
  }
  // Rows that threads copied are not visible to the tensor cores without a fence.
  __device__ __forceinline__ void wait_full(std::uint32_t barrier, std::uint32_t parity) const {
    barrier_wait(barrier, parity);
    if constexpr (S::kGathered) fence_proxy_async();
  }
  __device__ __forceinline__ void release_k() {
    release(base + S::kKEmpty + 8 * k.stage);
    k.advance();
  }
  __device__ __forceinline__ void release_v() {
    release(base + S::kVEmpty + 8 * v.stage);
    v.advance();
  }
  __device__ __forceinline__ void release_q(int stage) { release(base + S::kQEmpty + 8 * stage); }
  // Releases the stage from which the rows of the tile before were stored, after the stores have read it.
  __device__ __forceinline__ void release_held() {
    if (held < 0) return;
    wait_stores_read();  // by all lanes, since a branch costs the loop its uniform registers
    release_q(held);
    held = -1;
  }

  // Releases blocks that this group does not need.
  __device__ __forceinline__ void pass(int count) {
    for (int i = 0; i < count; ++i) {
      barrier_wait(base + S::kKFull + 8 * k.stage, k.parity);
      release_k();
      barrier_wait(base + S::kVFull + 8 * v.stage, v.parity);
      release_v();
    }
  }

  __device__ __forceinline__ std::uint32_t values_of(int begin, int key_count) {
    const std::uint32_t at = base + S::kVAt + v.stage * S::kBlockBytes;
    wait_full(base + S::kVFull + 8 * v.stage, v.parity);
    if (!S::kGathered && !S::kWindows && begin + S::kKeys > key_count)
      clear_values<S>(at, key_count - begin, group);
    return at;
  }

  __device__ __forceinline__ int row() const {
    return group * 64 + threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
  }

  __device__ __forceinline__ GroupRows rows_of(const ForwardTile& tile) const {
    GroupRows rows;
    rows.tile = &tile;
    rows.key_count = uniform(tile.key_count);
    rows.blocks = (rows.key_count + S::kKeys - 1) / S::kKeys;
    const bool backwards = uniform(tile.keys_backwards) != 0;
    rows.step = backwards ? -S::kKeys : S::kKeys;
    rows.begin = backwards ? (rows.blocks - 1) * S::kKeys : 0;
    rows.position = tile.query_first + row() * p.query_step;
    rows.unmasked = rows.key_count;
    rows.limit[0] = rows.limit[1] = rows.key_count;
    if constexpr (S::kWindows) find_windows(rows);
    if constexpr (S::kSources) enter_stretch<S>(rows, p.walk.stretches + tile.key_begin);
    return rows;
  }

  __device__ __forceinline__ void find_windows(GroupRows& rows) const {
    const ForwardTile& tile = *rows.tile;
    rows.entry = tile.key_position * S::kMaskParts + rows.begin / S::kKeys;
    rows.number = tile.unmasked;
    rows.next = {};
    advance_mask<S>(p, rows, rows.blocks > 1);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int query = tile.query_first + min(row() + 8 * r, tile.query_count - 1);
      rows.output[r] = p.windows.query_rows == nullptr ? query : load_number(p.windows.query_rows + query);
    }
  }

  __device__ __forceinline__ std::uint32_t queries() const {
    return base + S::kQAt + q.stage * S::kQBytes + group * (64 * 128);
  }
  __device__ __forceinline__ std::uint32_t keys() const {
    return base + S::kKAt + k.stage * S::kBlockBytes;
  }
  __device__ __forceinline__ void wait_queries() const {
    barrier_wait(base + S::kQFull + 8 * q.stage, q.parity);
    if (p.q_slots != nullptr) fence_proxy_async();  // threads copied Q
  }
  __device__ __forceinline__ void wait_keys() const {
    wait_full(base + S::kKFull + 8 * k.stage, k.parity);
  }

  // Writes O and LSE. Whole 16-bit rows of a warp go through its rows of Q in stage `q_stage`, from which the
  // tensor memory accelerator stores them while the next tile is computed; the stage is held until then.
  __device__ __forceinline__ void store(const GroupRows& rows, float (&o)[S::kDim / 2],
                                        const Softmax<S>& softmax, int q_stage) {
    const ForwardTile& tile = *rows.tile;
    const std::int64_t at =
        (static_cast<std::int64_t>(tile.batch) * p.sequence + rows.position) * p.heads + tile.head;
    const std::int64_t apart = static_cast<std::int64_t>(8 * p.query_step) * p.heads;
    const RowEnd end[2] = {softmax.end(0), softmax.end(1)};
    const int first = group * 64 + uniform(threadIdx.x / 32 % 4) * 16;
    const int query_count = uniform(tile.query_count);
    bool by_map = S::kStoresByMap && uniform(tile.merge) == 0 && p.o_fp32 == 0;
    if constexpr (S::kWindows) by_map = by_map && p.windows.query_rows == nullptr;
    // All warps of the group have read their Q.
    if (by_map) named_sync(1 + S::kConsumers + group, kGroupThreads);
    if (by_map && first + 16 <= query_count) {
      const std::uint32_t stage = base + S::kQAt + q_stage * S::kQBytes;
      stage_rows<S>(stage, first, o, end[0].weight, end[1].weight);
      fence_proxy_async();
      __syncwarp();
      if (threadIdx.x % 32 == 0) {
        const int residue = tile.query_first % p.query_step;
        const CUtensorMap* map = &maps.o.map[residue < p.sequence % p.query_step ? 1 : 0];
#pragma unroll
        for (int c = 0; c < S::kColumnBlocks; ++c) {
          tma_store(map, stage + c * (S::kRows * 128) + first * 128, c * 64, residue,
                    tile.query_first / p.query_step + first, tile.head, tile.batch);
        }
        commit_stores();
      }
      if (threadIdx.x % 4 == 0) {
        p.lse[at] = end[0].lse;
        p.lse[at + apart] = end[1].lse;
      }
      held = q_stage;
      return;
    }
    if constexpr (S::kStoresByMap) release_q(q_stage);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      std::int64_t to = at + r * apart;
      if constexpr (S::kWindows)
        to = (static_cast<std::int64_t>(tile.batch) * p.sequence + rows.output[r]) * p.heads + tile.head;
      store_row<S>(p, to, row() + 8 * r < query_count, tile.merge != 0, o, end[r], r);
    }
  }

  __device__ __forceinline__ void release_tile() {
    __syncwarp();
    if (threadIdx.x % 32 == 0) barrier_arrive(base + S::kTileEmpty + 8 * tiles.stage);
    tiles.advance();
  }

  // Mends exponentials for which `shift` was too low. Some warps of a group may come here without the others:
  // nothing here uses products of the whole group.
  __device__ __forceinline__ void mend(Softmax<S>& softmax, float (&s)[S::kKeys / 2], float (&block_sum)[2],
                                       const GroupRows& rows, std::uint32_t q_at) const {
    float exponent[2] = {0, 0};
    bool held = !softmax.lost(block_sum);
    if constexpr (S::kRecalls)
      held =
          held || (!softmax.unseen() && recall_exponents<S>(s, block_sum, softmax, q_at, keys(), exponent));
    if (held) {
      softmax.shrink(s, block_sum, exponent);
    } else {
      repeat_scores<S>(s, q_at, keys());
      mask_rows<S>(s, p, rows);
      softmax.raise(s);
      softmax.exponentials(s, block_sum);
    }
  }

  // Attention of the rows of a tile that has keys.
  __device__ __forceinline__ void attend(const ForwardTile& tile) {
    GroupRows rows = rows_of(tile);
    // If all groups have rows of the tile, they take turns.
    const bool turns = uniform(tile.query_count) > 64 * (S::kConsumers - 1);
    float o[S::kDim / 2];
    float s[S::kKeys / 2];
    std::uint32_t probabilities[S::kKeys / 4];
    Softmax<S> softmax;
    softmax.scale_log2 = p.scale * kLog2e;

    wait_queries();
    wait_keys();
    const std::uint32_t q_at = queries();
    wgmma_pin(s);
    wgmma_fence();
    multiply_keys<S>(s, q_at, keys());
    wgmma_commit();
    release_held();
    find_limits<S>(p, rows);
#pragma unroll
    for (int i = 0; i < S::kDim / 2; ++i) o[i] = 0;
    wgmma_wait<0>();
    wgmma_pin(s);
    release_k();
    if constexpr (S::kWindows) {
      advance_mask<S>(p, rows, rows.blocks > 2);
      softmax.start(s, rows.bits);
    } else {
      mask_rows<S>(s, p, rows);
      softmax.start(s);
    }
    pack_scores<S>(probabilities, s);
    for (int i = 1; i < rows.blocks; ++i) {
      wait_keys();
      if (turns) named_sync(1 + group, 2 * kGroupThreads);
      wgmma_pin(s);
      wgmma_pin(o);
      wgmma_fence();
      multiply_keys<S>(s, q_at, keys());
      wgmma_commit();
      const std::uint32_t v_at = values_of(rows.begin, rows.key_count);
      wgmma_fence();
      multiply_values<S>(o, probabilities, v_at);
      wgmma_commit();
      if (turns) named_arrive(1 + (group + 1) % S::kConsumers, 2 * kGroupThreads);
      advance_block<S>(p, rows);
      wgmma_wait<1>();
      wgmma_pin(s);
      if constexpr (!S::kWindows) mask_rows<S>(s, p, rows);
      // After P V of the block before is done, its P may be overwritten.
      const auto end_values = [&] {
        wgmma_wait<0>();
        wgmma_pin(o);
        pack_scores<S>(probabilities, s);
      };
      float block_sum[2];
      if constexpr (S::kWindows) {
        advance_mask<S>(p, rows, i + 2 < rows.blocks);
        softmax.start_rows(s, rows.bits);
        softmax.exponentials(s, block_sum, rows.bits);
      } else {
        softmax.exponentials(s, block_sum);
      }
      if constexpr (S::kPackEarly) end_values();
      const bool scales = softmax.too_large(block_sum);
      if (scales) {
        mend(softmax, s, block_sum, rows, q_at);
        if constexpr (S::kPackEarly) pack_scores<S>(probabilities, s);
      }
      release_k();
      if constexpr (!S::kPackEarly) end_values();
      release_v();
      if (scales) softmax.scale(o);
      softmax.add(block_sum);
    }
    if constexpr (!S::kStoresByMap) release_q(q.stage);
    const std::uint32_t v_at = values_of(rows.begin, rows.key_count);
    wgmma_pin(o);
    wgmma_fence();
    multiply_values<S>(o, probabilities, v_at);
    wgmma_commit();
    wgmma_wait<0>();
    wgmma_pin(o);
    release_v();
    store(rows, o, softmax, q.stage);
  }

  // A tile without keys.
  __device__ __forceinline__ void attend_nothing(const ForwardTile& tile) {
    float o[S::kDim / 2];
#pragma unroll
    for (int i = 0; i < S::kDim / 2; ++i) o[i] = 0;
    Softmax<S> softmax;
    softmax.start_empty();
    if constexpr (!S::kStoresByMap) release_q(q.stage);
    store(rows_of(tile), o, softmax, q.stage);
  }

  __device__ __forceinline__ void attend_all() {
    while (true) {
      const ForwardTile& tile = next_tile<S>(shared, base, tiles);
      const int query_count = uniform(tile.query_count);
      if (query_count == 0) break;
      const bool idle = group * 64 >= query_count;
      if (!idle && uniform(tile.key_count) > 0) {
        attend(tile);
      } else {
        barrier_wait(base + S::kQFull + 8 * q.stage, q.parity);
        release_held();
        if (idle) {
          release_q(q.stage);
          pass(key_blocks<S>(tile));
        } else {
          attend_nothing(tile);
        }
      }
      q.advance();
      release_tile();
    }
    if (threadIdx.x % 32 == 0) wait_stores();
  }
};

template <class S>
__device__ __forceinline__ void consume(const typename S::Params& p, const StridedMaps& maps,
                                        unsigned char* shared, std::uint32_t base) {
  const int group = uniform(threadIdx.x / kGroupThreads) - 1;
  Consumer<S> consumer{p, maps, shared, base, group, {}, {}, {}, {}, -1};
  // The first group has the first turn.
  if (group == S::kConsumers - 1) named_arrive(1, 2 * kGroupThreads);
  consumer.attend_all();
  if (group == 0) named_sync(1, 2 * kGroupThreads);
  *reinterpret_cast<volatile int*>(shared + S::kFinishedAt) = 1;
}

}  // namespace hilbench::cuda
