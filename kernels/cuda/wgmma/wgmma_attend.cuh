// The consumers: attention of 64 query rows of a tile by one warp group.
#pragma once

#include <cstdint>

#include "kernels/cuda/wgmma/hopper.cuh"
#include "kernels/cuda/wgmma/wgmma_products.cuh"
#include "kernels/cuda/wgmma/wgmma_softmax.cuh"
#include "kernels/cuda/wgmma/wgmma_store.cuh"
#include "kernels/cuda/wgmma/wgmma_tiling.cuh"

namespace hilbench::cuda {

// Clears rows of V past the last key: P is 0 there, but 0 times an infinity of another segment is NaN. Every
// group clears them for itself.
template <class S>
__device__ __forceinline__ void clear_values(std::uint32_t v, int rows, int group) {
  const int thread = threadIdx.x % kGroupThreads;
  for (int i = rows * (S::kDim / 8) + thread; i < S::kKeys * (S::kDim / 8); i += kGroupThreads) {
    const int row = i / (S::kDim / 8);
    const int chunk = i % (S::kDim / 8);
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
  const KernelParams& p;
  std::uint32_t base;
  int group;
  Stages<S::kQStages> q;
  Stages<S::kKStages> k;
  Stages<S::kVStages> v;

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
  __device__ __forceinline__ void release_q() {
    release(base + S::kQEmpty + 8 * q.stage);
    q.advance();
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
    if (!S::kGathered && begin + S::kKeys > key_count) clear_values<S>(at, key_count - begin, group);
    return at;
  }

  __device__ __forceinline__ void attend(const ForwardTile& tile) {
    const int key_count = uniform(tile.key_count);
    const int blocks = (key_count + S::kKeys - 1) / S::kKeys;
    const int query_count = uniform(tile.query_count);
    if (group * 64 >= query_count) {
      barrier_wait(base + S::kQFull + 8 * q.stage, q.parity);
      release_q();
      pass(blocks);
      return;
    }
    const int row = group * 64 + threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
    const int position = tile.query_first + row * p.query_step;
    const int unmasked = S::kCausal ? uniform(tile.unmasked) : key_count;
    int limit[2] = {key_count, key_count};
    if constexpr (S::kCausal) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int ahead = position + 8 * r * p.query_step - tile.key_position;
        limit[r] = ahead < 0 ? 0 : min(key_count, ahead / p.key_step + 1);
      }
    }
    const bool turns = query_count > 64 * (S::kConsumers - 1);
    const bool backwards = uniform(tile.keys_backwards) != 0;
    const int step = backwards ? -S::kKeys : S::kKeys;
    int begin = backwards ? (blocks - 1) * S::kKeys : 0;

    float o[S::kDim / 2];
#pragma unroll
    for (int i = 0; i < S::kDim / 2; ++i) o[i] = 0;
    Softmax<S> softmax;
    softmax.scale_log2 = p.scale * kLog2e;
    softmax.sum[0] = softmax.sum[1] = 0;
    softmax.maximum[0] = softmax.maximum[1] = -INFINITY;

    barrier_wait(base + S::kQFull + 8 * q.stage, q.parity);
    fence_proxy_async();  // threads copied Q
    const std::uint32_t q_at = base + S::kQAt + q.stage * S::kQBytes + group * (64 * 128);
    if (blocks > 0) {
      float s[S::kKeys / 2];
      std::uint32_t probabilities[S::kKeys / 4];
      wait_full(base + S::kKFull + 8 * k.stage, k.parity);
      wgmma_pin(s);
      wgmma_fence();
      multiply_keys<S>(s, q_at, base + S::kKAt + k.stage * S::kBlockBytes);
      wgmma_commit();
      wgmma_wait<0>();
      wgmma_pin(s);
      release_k();
      if (begin + S::kKeys > unmasked) mask_scores<S>(s, p, tile, begin, limit, position);
      softmax.raise(s);
      softmax.exponentials(s, softmax.sum);
      pack_scores<S>(probabilities, s);
      for (int i = 1; i < blocks; ++i) {
        wait_full(base + S::kKFull + 8 * k.stage, k.parity);
        if (turns) named_sync(1 + group, 2 * kGroupThreads);
        wgmma_pin(s);
        wgmma_pin(o);
        wgmma_fence();
        multiply_keys<S>(s, q_at, base + S::kKAt + k.stage * S::kBlockBytes);
        wgmma_commit();
        const std::uint32_t v_at = values_of(begin, key_count);
        wgmma_fence();
        multiply_values<S>(o, probabilities, v_at);
        wgmma_commit();
        if (turns) named_arrive(1 + (group + 1) % S::kConsumers, 2 * kGroupThreads);
        begin += step;
        wgmma_wait<1>();
        wgmma_pin(s);
        const auto to_exponentials = [&](float(&block_sum)[2], bool raises) {
          if (begin + S::kKeys > unmasked) mask_scores<S>(s, p, tile, begin, limit, position);
          if (raises) softmax.raise(s);
          softmax.exponentials(s, block_sum);
        };
        // After P V of the block before is done, its P may be overwritten.
        const auto end_values = [&] {
          wgmma_wait<0>();
          wgmma_pin(o);
          pack_scores<S>(probabilities, s);
        };
        float block_sum[2];
        to_exponentials(block_sum, false);
        if constexpr (S::kPackEarly) end_values();
        const bool scales = softmax.too_large(block_sum);
        // Some warps of a group may come here without the others: nothing here uses products
        // of the whole group.
        if (scales) {
          repeat_scores<S>(s, q_at, base + S::kKAt + k.stage * S::kBlockBytes);
          to_exponentials(block_sum, true);
          if constexpr (S::kPackEarly) pack_scores<S>(probabilities, s);
        }
        release_k();
        if constexpr (!S::kPackEarly) end_values();
        release_v();
        if (scales) {
          softmax.sum[0] *= softmax.factor[0];
          softmax.sum[1] *= softmax.factor[1];
#pragma unroll
          for (int j = 0; j < S::kDim / 2; ++j) o[j] *= softmax.factor[j / 2 % 2];
        }
        softmax.sum[0] += block_sum[0];
        softmax.sum[1] += block_sum[1];
      }
      release_q();
      const std::uint32_t v_at = values_of(begin, key_count);
      wgmma_pin(o);
      wgmma_fence();
      multiply_values<S>(o, probabilities, v_at);
      wgmma_commit();
      wgmma_wait<0>();
      wgmma_pin(o);
      release_v();
    } else {
      release_q();
    }

    const std::int64_t at =
        (static_cast<std::int64_t>(tile.batch) * p.sequence + position) * p.heads + tile.head;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      store_row<S>(p, at + static_cast<std::int64_t>(8 * r) * p.query_step * p.heads,
                   row + 8 * r < query_count, tile.merge != 0, o, softmax.maximum[r],
                   softmax.quad_sum(softmax.sum[r]), r);
    }
  }
};

template <class S>
__device__ __forceinline__ void consume(const KernelParams& p, unsigned char* shared, std::uint32_t base) {
  const int group = uniform(threadIdx.x / kGroupThreads) - 1;
  Consumer<S> consumer{p, base, group, {}, {}, {}};
  // The first group has the first turn.
  if (group == S::kConsumers - 1) named_arrive(1, 2 * kGroupThreads);
  Stages<S::kTileSlots> tiles;
  while (true) {
    const ForwardTile& tile = next_tile<S>(shared, base, tiles);
    if (uniform(tile.query_count) == 0) break;
    consumer.attend(tile);
    __syncwarp();
    if (threadIdx.x % 32 == 0) barrier_arrive(base + S::kTileEmpty + 8 * tiles.stage);
    tiles.advance();
  }
  if (group == 0) named_sync(1, 2 * kGroupThreads);
  *reinterpret_cast<volatile int*>(shared + S::kFinishedAt) = 1;
}

}  // namespace hilbench::cuda
