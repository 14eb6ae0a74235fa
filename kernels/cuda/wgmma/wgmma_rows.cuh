// What a consumer knows of its rows of a tile: the keys that they see, block after block. For sm_90a only.
#pragma once

#include <cstdint>

#include "kernels/cuda/wgmma/hopper.cuh"
#include "kernels/cuda/wgmma/wgmma_softmax.cuh"
#include "kernels/cuda/wgmma/wgmma_tiling.cuh"

namespace hilbench::cuda {

// What a group needs to know of a tile. Each of this thread's two rows sees the keys below its `limit`.
struct GroupRows {
  const ForwardTile* tile;
  int position;
  int blocks;  // of keys
  int begin;   // of the block whose scores come next
  int step;
  int key_count;
  int unmasked;
  int limit[2];
  // Windows only:
  int output[2];  // rows of O
  uint2 bits;     // this thread's part of the mask of this block
  uint2 next;     // of the block after it
  int number;     // of the mask of the block after that; below 0: all queries see all keys
  int entry;      // of `number` in mask_of_block, kMaskParts for each mask
  // Keys of several sources only. `begin`, `key_count`, `unmasked` and `limit` are of this stretch.
  const KeyStretch* stretch;
  int left;  // blocks of the stretch, from that at `begin` on
};

template <class S>
__device__ __forceinline__ void enter_stretch(GroupRows& rows, const KeyStretch* stretch) {
  rows.stretch = stretch;
  rows.key_count = uniform(__ldg(&stretch->key_count));
  rows.left = (rows.key_count + S::kKeys - 1) / S::kKeys;
  rows.begin = 0;
  rows.unmasked = rows.limit[0] = rows.limit[1] = rows.key_count;
}

// What says which keys a block has: the tile, or one of its stretches.
template <class S>
__device__ __forceinline__ const auto& keys_of(const GroupRows& rows) {
  if constexpr (S::kSources)
    return *rows.stretch;
  else
    return *rows.tile;
}

// The next mask becomes that of this block. Starts to load the mask after it and, if there is one, the
// number of a further mask. Both have a whole block to arrive: memory is busy with K and V.
template <class S>
__device__ __forceinline__ void advance_mask(const typename S::Params& p, GroupRows& rows, bool more) {
  rows.bits = rows.next;
  rows.next = {~0u, ~0u};
  if (rows.number >= 0) {
    const std::uint64_t* words =
        p.windows.masks + static_cast<std::int64_t>(rows.number) * kMaskWords + (threadIdx.x - kGroupThreads);
    if constexpr (S::kMaskParts == 1)
      rows.next = load_words(words);
    else  // 64 keys are half of the bits of a thread; past the first block `entry` may be -1
      rows.next.x =
          load_number(reinterpret_cast<const std::int32_t*>(words) + (rows.entry & (S::kMaskParts - 1)));
  }
  rows.entry += rows.step / S::kKeys;
  if (more) rows.number = load_number(p.windows.mask_of_block + rows.entry / S::kMaskParts);
}

// After the products are under way, since the division takes long.
template <class S>
__device__ __forceinline__ void find_limits(const typename S::Params& p, GroupRows& rows) {
  if constexpr (S::kCausal) {
    rows.unmasked = uniform(keys_of<S>(rows).unmasked);
    // All queries of the tile see the whole stretch: its positions need not be a step apart.
    if ((S::kSources || S::kPadded) && rows.unmasked == rows.key_count) return;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int ahead = rows.position + 8 * r * p.query_step - keys_of<S>(rows).key_position;
      rows.limit[r] = ahead < 0 ? 0 : min(rows.key_count, ahead / p.key_step + 1);
    }
  }
}

// Goes on to the next block.
template <class S>
__device__ __forceinline__ void advance_block(const typename S::Params& p, GroupRows& rows) {
  rows.begin += rows.step;
  if constexpr (S::kSources) {
    if (--rows.left > 0) return;
    enter_stretch<S>(rows, rows.stretch + 1);
    find_limits<S>(p, rows);
  }
}

// Masks the scores of this block.
template <class S>
__device__ __forceinline__ void mask_rows(float (&s)[S::kKeys / 2], const typename S::Params& p,
                                          const GroupRows& rows) {
  if constexpr (S::kWindows) {
    mask_unseen<S>(s, rows.bits);
    return;
  }
  if (rows.begin + S::kKeys > rows.unmasked)
    mask_scores<S>(s, p, keys_of<S>(rows), rows.begin, rows.limit, rows.position);
}

}  // namespace hilbench::cuda
