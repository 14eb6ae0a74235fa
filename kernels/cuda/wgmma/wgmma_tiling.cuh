// How dilated_wgmma divides its work: its parameters, its stages in shared memory, the barriers between
// producers and consumers, and how tiles are handed out. For sm_90a only.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/shared/walk_kernel.hpp"
#include "kernels/cuda/shared/window_kernel.hpp"
#include "kernels/cuda/wgmma/hopper.cuh"
#include "kernels/cuda/wgmma/tensor_map.hpp"
#include "kernels/cuda/wgmma/wgmma_gather.cuh"
#include "kernels/cuda/wgmma/wgmma_tile_sizes.hpp"

namespace hilbench::cuda {

constexpr int kGroupThreads = 128;

// A branch, and of its shape what is not fixed by the instance.
struct KernelParams : ForwardParams {
  std::int32_t sequence;
  std::int32_t batch;
  std::int32_t heads;
  std::int32_t kv_heads;
  std::int32_t head_dim;
};

struct WindowParams : KernelParams {
  WindowTables windows;
};

struct WalkParams : KernelParams {
  WalkTables walk;
};

// What a case is to an instance: branches, branches whose keys are in the shards of several sources, windows
// on a grid, or windows whose tiles and key blocks are boxes of the grid (a padded instance: either). Tiles
// of windows have 128 rows, and their masks are in tables.
enum class Over { branches, sources, windows, boxes };

template <Over kOver>
struct ParamsOver {
  using Type = WindowParams;
};
template <>
struct ParamsOver<Over::branches> {
  using Type = KernelParams;
};
template <>
struct ParamsOver<Over::sources> {
  using Type = WalkParams;
};

// Sizes of one instance, and the offsets of its parts in shared memory (bytes). `kPad`: the case has head_dim
// kHeadDim or less. Padded instances are causal and compute full cases too, whose keys all queries see: each
// kind of instance takes seconds to compile.
template <typename Element, int kHeadDim, bool kPad, bool kMasked, bool kGather, Over kOver>
struct Sizes {
  using T = Element;
  using Params = typename ParamsOver<kOver>::Type;
  using Maps = std::conditional_t<kOver == Over::sources, WalkMaps, StridedMaps>;
  static constexpr bool kWindows = kOver == Over::windows || kOver == Over::boxes;
  static constexpr bool kSources = kOver == Over::sources;
  static constexpr bool kBoxes = kOver == Over::boxes;
  static constexpr int kDim = kHeadDim;
  static constexpr bool kPadded = kPad;
  static constexpr bool kCausal = kMasked;
  static constexpr bool kGathered = kGather;
  static constexpr int kConsumers = kDim == 64 && !kWindows ? 3 : 2;
  static constexpr int kRows = 64 * kConsumers;
  static constexpr int kKeys = wgmma_block_keys(kDim, kWindows);  // of a block of K or V
  static constexpr int kMaskParts = kWindows ? 128 / kKeys : 1;   // blocks that share a mask
  // Rows in shared memory are blocks of 64 columns. Products read no column past kDim.
  static constexpr int kColumnBlocks = (kDim + 63) / 64;
  static constexpr int kRowBytes = kColumnBlocks * 128;
  // Whether a few scores are computed again alone. At head_dim 64 all scores of a block cost too little for
  // that.
  static constexpr bool kRecalls = kDim > 64;
  // Gathered rows take longer to arrive, and the consumers keep K until its exponentials are computed.
  static constexpr int kKStages = kGathered && (kDim <= 128 || kWindows) ? 3 : 2;
  static constexpr int kVStages = 2;
  // With one stage Q is released before the last product with V, so that the next Q arrives beside it; and O
  // cannot leave through the rows of Q.
  static constexpr int kQStages = kDim > 128 ? 1 : 2;
  static constexpr bool kStoresByMap = kQStages > 1;
  static constexpr int kProducerWarps = kGroupThreads / 32;
  static constexpr int kThreads = kGroupThreads * (1 + kConsumers);
  // Of a consumer thread: O, the scores and the probabilities of a block alone take up to 188 at long rows.
  static constexpr bool kLongRows = kDim > 192 || (kDim > 128 && !kWindows);
  static constexpr int kProducerRegisters = kConsumers == 3 ? 32 : kLongRows ? 40 : 56;
  static constexpr int kConsumerRegisters = kConsumers == 3 ? 160 : kLongRows ? 232 : 224;
  static_assert(kProducerRegisters + kConsumers * kConsumerRegisters <= 512, "registers of a block");
  // With three groups, P V of a block ends before the exponentials of the next block; with two it may not,
  // and they do not wait for it.
  static constexpr bool kPackEarly = kConsumers == 3;

  // Strided rows: blocks of keys that are still to be loaded when the next tile is claimed. A block that
  // claims earlier may keep a tile from one that has nothing to do; later, the tile's Q and K come late.
  static constexpr int kClaimAhead = 2;

  using Gather = RowGather<kDim, kPadded, kKeys, kProducerWarps>;

  // Claimed tiles: the current one, the next, and more if the claiming warp has other work as well.
  // A power of two.
  static constexpr int kTileSlots = kGathered ? 4 : 2;

  static constexpr int kQBytes = kRows * kRowBytes;
  static constexpr int kBlockBytes = kKeys * kRowBytes;
  static constexpr int kQAt = 0;
  static constexpr int kKAt = kQAt + kQStages * kQBytes;
  static constexpr int kVAt = kKAt + kKStages * kBlockBytes;
  static constexpr int kTileAt = kVAt + kVStages * kBlockBytes;
  static constexpr int kSlotAt = kTileAt + kTileSlots * static_cast<int>(sizeof(ForwardTile));
  static constexpr int kBarrierAt = kSlotAt + (kGathered ? Gather::kTableBytes : 0);
  static constexpr int kBarriers = 2 * (kQStages + kKStages + kVStages + kTileSlots) + 1;
  static constexpr int kFinishedAt = kBarrierAt + 8 * kBarriers;  // int: 1 after the consumers have ended
  static constexpr int kClearedAt = kFinishedAt + 4;              // int: windows taken for clearing
  static constexpr int kSharedBytes = kFinishedAt + 8;
  static_assert(kSharedBytes <= 232448, "a block has at most 227 KiB of shared memory");
  static_assert(kQBytes % 1024 == 0 && kBlockBytes % 1024 == 0, "the swizzle repeats every 1024 bytes");

  // Barriers `full` and `empty` of each stage of Q, K, V and the tile slots.
  static constexpr int kQFull = kBarrierAt;
  static constexpr int kQEmpty = kQFull + 8 * kQStages;
  static constexpr int kKFull = kQEmpty + 8 * kQStages;
  static constexpr int kKEmpty = kKFull + 8 * kKStages;
  static constexpr int kVFull = kKEmpty + 8 * kKStages;
  static constexpr int kVEmpty = kVFull + 8 * kVStages;
  static constexpr int kTileFull = kVEmpty + 8 * kVStages;
  static constexpr int kTileEmpty = kTileFull + 8 * kTileSlots;
  static constexpr int kClaim = kTileEmpty + 8 * kTileSlots;  // the next tile is to be claimed
};

template <typename Element, int kHeadDim, bool kPad, bool kMasked, bool kGather>
struct Shape : Sizes<Element, kHeadDim, kPad, kMasked, kGather, Over::branches> {};

template <typename Element, int kHeadDim, bool kPad, bool kMasked, bool kGather>
struct WalkShape : Sizes<Element, kHeadDim, kPad, kMasked, kGather, Over::sources> {};

template <typename Element, int kHeadDim, bool kPad, bool kGather, bool kBoxes>
struct WindowShape : Sizes<Element, kHeadDim, kPad, false, kGather, kBoxes ? Over::boxes : Over::windows> {};

// Elements of a row in device memory.
template <class S>
__device__ __forceinline__ int head_dim(const KernelParams& p) {
  if constexpr (S::kPadded)
    return p.head_dim;
  else
    return S::kDim;
}

// Whether the tiles of windows are boxes of the grid.
template <class S>
__device__ __forceinline__ bool reads_boxes(const WindowParams& p) {
  if constexpr (S::kBoxes && S::kPadded) {
    const std::int32_t(&box)[3] = p.windows.boxes.box;
    return box[0] * box[1] * box[2] > 1;
  }
  return S::kBoxes;
}

// Position in a cycle of stages, and the parity of the phase that completes next.
template <int kCount>
struct Stages {
  std::uint32_t stage = 0;
  std::uint32_t parity = 0;
  __device__ __forceinline__ void advance() {
    if (++stage == kCount) {
      stage = 0;
      parity ^= 1;
    }
  }
  // The position after `passed` stages.
  __device__ __forceinline__ static Stages at(std::uint32_t passed) {
    return {passed % kCount, passed / kCount % 2};
  }
};

__device__ __forceinline__ std::uint32_t swizzled(std::uint32_t row, std::uint32_t chunk) {
  return row * 128 + ((chunk ^ (row & 7)) << 4);
}

// Shows the compiler that a value is the same in all lanes: wgmma must not be in divergent code.
__device__ __forceinline__ int uniform(int x) {
  return __shfl_sync(0xFFFFFFFFu, x, 0);
}

template <class S>
__device__ __forceinline__ void init_barriers(std::uint32_t base) {
  constexpr int kConsumerWarps = 4 * S::kConsumers;
  constexpr int kReleases = S::kGathered ? 32 * kConsumerWarps : kConsumerWarps;
  auto init = [&](int at, int count, int arrivals) {
    for (int i = 0; i < count; ++i) barrier_init(base + at + 8 * i, arrivals);
  };
  init(S::kQFull, S::kQStages, S::kGathered ? kGroupThreads : 32);
  init(S::kQEmpty, S::kQStages, kReleases);
  init(S::kKFull, S::kKStages, S::kGathered ? kGroupThreads : 1);
  init(S::kKEmpty, S::kKStages, kReleases);
  init(S::kVFull, S::kVStages, S::kGathered ? kGroupThreads : 1);
  init(S::kVEmpty, S::kVStages, kReleases);
  init(S::kTileFull, S::kTileSlots, 1);
  init(S::kTileEmpty, S::kTileSlots, kConsumerWarps + (S::kGathered ? S::kProducerWarps : 2));
  init(S::kClaim, 1, 1);
  fence_barrier_init();
}

template <class S>
__device__ __forceinline__ int key_blocks(const ForwardTile& tile) {
  return (tile.key_count + S::kKeys - 1) / S::kKeys;
}

// One thread claims tiles in list order and hands them to the other warps through the tile slots. A tile
// without queries ends the work. The last block to end sets the counters back to zero.
template <class S>
struct Claims {
  Stages<S::kTileSlots> slots;
  bool more = true;

  __device__ __forceinline__ void claim(const KernelParams& p, unsigned char* shared, std::uint32_t base) {
    if (!more) return;
    barrier_wait(base + S::kTileEmpty + 8 * slots.stage, slots.parity ^ 1);
    const int claimed = atomicAdd(&p.counters[0], 1);
    more = claimed < p.tile_count;
    ForwardTile tile = {};
    if (more) tile = p.tiles[claimed];
    reinterpret_cast<ForwardTile*>(shared + S::kTileAt)[slots.stage] = tile;
    barrier_arrive(base + S::kTileFull + 8 * slots.stage);
    slots.advance();
    if (!more && atomicAdd(&p.counters[1], 1) == static_cast<int>(gridDim.x) - 1) {
      p.counters[0] = 0;
      p.counters[1] = 0;
    }
  }
};

template <class S>
__device__ __forceinline__ const ForwardTile& next_tile(unsigned char* shared, std::uint32_t base,
                                                        const Stages<S::kTileSlots>& slots) {
  barrier_wait(base + S::kTileFull + 8 * slots.stage, slots.parity);
  return reinterpret_cast<const ForwardTile*>(shared + S::kTileAt)[slots.stage];
}

}  // namespace hilbench::cuda
