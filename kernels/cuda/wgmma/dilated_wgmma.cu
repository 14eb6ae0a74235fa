// Dilated attention, forward, for Hopper (sm_90a): O = softmax(scale Q K^T) V over the selected rows of each
// segment (LongNet, arXiv 2307.02486, Eqs. 3-8), exact online softmax, fp32 accumulation, bf16 or fp16
// operands, head_dim 64 and 128.
//
// One persistent block per multiprocessor works through the list of tiles, in the manner of FlashAttention-3
// (arXiv 2407.08608, sections 3.1 and 3.2). A producer warp group fetches Q rows by 16-byte copies and blocks
// of K and V, by TMA where their rows are strided and else gathered by 16-byte copies into the same 128-byte
// swizzle. Each consumer warp group owns 64 query rows: it computes the scores of the next block beside P V
// of this one, keeps P in registers, and takes turns with the others at the tensor cores.
//
// Where we depart from the paper: rows through tables, merging with earlier branches, clearing of the rows
// that no tile writes, and a scale of the exponentials that seldom moves instead of a running maximum.
#include <cuda_runtime.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "kernels/cuda/mma/mma.cuh"
#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/shared/forward.hpp"
#include "kernels/cuda/wgmma/hopper.cuh"
#include "kernels/cuda/wgmma/tensor_map.hpp"
#include "kernels/cuda/wgmma/wgmma_gather.cuh"

namespace hilbench::cuda {
namespace {

constexpr int kGroupThreads = 128;
constexpr int kClearCycles = 1200;  // between two windows of a clearing warp, while there is work
constexpr int kFewKeys = 512;       // of a tile: below, moving rows takes longer than computing
constexpr float kLog2e = 1.4426950408889634f;
constexpr float kLn2 = 0.6931471805599453f;

struct KernelParams {
  const void* q;
  const void* k;
  const void* v;
  void* o;
  float* lse;
  const std::int32_t* q_slots;
  const std::int32_t* key_slots;
  const std::int32_t* key_positions;
  const ForwardTile* tiles;
  const HeadCover* fill;
  std::int32_t* counters;
  std::int32_t tile_count;
  std::int32_t sequence;
  std::int32_t kv_rows;
  std::int32_t batch;
  std::int32_t heads;
  std::int32_t kv_heads;
  std::int32_t query_step;
  std::int32_t key_step;
  std::int32_t key_slot_step;
  std::int32_t o_fp32;
  float scale;
};

// Shapes of one instance, and where its parts stand in shared memory (bytes).
template <typename Element, int kHeadDim, bool kMasked, bool kGather>
struct Shape {
  using T = Element;
  static constexpr int kDim = kHeadDim;
  static constexpr bool kCausal = kMasked;
  static constexpr bool kGathered = kGather;
  static constexpr int kConsumers = kDim == 64 ? 3 : 2;
  static constexpr int kRows = 64 * kConsumers;
  static constexpr int kKeys = kDim == 64 || kGathered ? 128 : 160;  // of a block of K or V
  // Gathered rows take longer to come, and the consumers keep K until they have its exponentials.
  static constexpr int kKStages = kGathered ? 3 : 2;
  static constexpr int kVStages = 2;
  static constexpr int kQStages = 2;
  static constexpr int kProducerWarps = kGroupThreads / 32;
  static constexpr int kThreads = kGroupThreads * (1 + kConsumers);
  static constexpr int kProducerRegisters = kConsumers == 3 ? 32 : 56;
  static constexpr int kConsumerRegisters = kConsumers == 3 ? 160 : 224;
  static_assert(kProducerRegisters + kConsumers * kConsumerRegisters <= 512, "registers of a block");
  // With three groups, P V of a block is done before the next one's exponentials are; with two it may not be,
  // and they do not wait for it.
  static constexpr bool kPackEarly = kConsumers == 3;

  using Gather = RowGather<kDim, kKeys, kProducerWarps>;

  // Tiles claimed: the one in work, the next, and more where the claiming warp has other work as well; a
  // power of two.
  static constexpr int kTileSlots = kGathered ? 4 : 2;

  static constexpr int kQBytes = kRows * kDim * 2;
  static constexpr int kBlockBytes = kKeys * kDim * 2;
  static constexpr int kQAt = 0;
  static constexpr int kKAt = kQAt + kQStages * kQBytes;
  static constexpr int kVAt = kKAt + kKStages * kBlockBytes;
  static constexpr int kTileAt = kVAt + kVStages * kBlockBytes;
  static constexpr int kSlotAt = kTileAt + kTileSlots * static_cast<int>(sizeof(ForwardTile));
  static constexpr int kBarrierAt = kSlotAt + (kGathered ? Gather::kTableBytes : 0);
  static constexpr int kBarriers = 2 * (kQStages + kKStages + kVStages + kTileSlots);
  static constexpr int kFinishedAt = kBarrierAt + 8 * kBarriers;  // int: 1 once the consumers have ended
  static constexpr int kClearedAt = kFinishedAt + 4;              // int: windows taken for clearing
  static constexpr int kSharedBytes = kFinishedAt + 16;
  static_assert(kSharedBytes <= 232448, "a block has at most 227 KiB of shared memory");
  static_assert(kQBytes % 1024 == 0 && kBlockBytes % 1024 == 0, "the swizzle repeats every 1024 bytes");

  // Barriers: full and empty of each stage of Q, K, V and the tile slots.
  static constexpr int kQFull = kBarrierAt;
  static constexpr int kQEmpty = kQFull + 8 * kQStages;
  static constexpr int kKFull = kQEmpty + 8 * kQStages;
  static constexpr int kKEmpty = kKFull + 8 * kKStages;
  static constexpr int kVFull = kKEmpty + 8 * kKStages;
  static constexpr int kVEmpty = kVFull + 8 * kVStages;
  static constexpr int kTileFull = kVEmpty + 8 * kVStages;
  static constexpr int kTileEmpty = kTileFull + 8 * kTileSlots;
};

// Position in a ring of stages, with the parity of the phase that is to complete next.
template <int kCount>
struct Ring {
  std::uint32_t stage = 0;
  std::uint32_t parity = 0;
  __device__ __forceinline__ void advance() {
    if (++stage == kCount) {
      stage = 0;
      parity ^= 1;
    }
  }
  // After `passed` stages.
  __device__ __forceinline__ static Ring at(std::uint32_t passed) {
    return {passed % kCount, passed / kCount % 2};
  }
};

__device__ __forceinline__ std::uint32_t swizzled(std::uint32_t row, std::uint32_t chunk) {
  return row * 128 + ((chunk ^ (row & 7)) << 4);
}

// The address `index` rows on, in one instruction.
__device__ __forceinline__ const char* multiply_add(std::uint32_t index, std::uint32_t row_bytes,
                                                    const char* rows) {
  std::uint64_t address;
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(address) : "r"(index), "r"(row_bytes), "l"(rows));
  return reinterpret_cast<const char*>(address);
}

// Tells the compiler that a value is the same in all lanes: wgmma must not stand in divergent code.
__device__ __forceinline__ int uniform(int x) {
  return __shfl_sync(0xFFFFFFFFu, x, 0);
}

template <typename T>
__device__ __forceinline__ float2 unpack(std::uint32_t packed);
template <>
__device__ __forceinline__ float2 unpack<__nv_bfloat16>(std::uint32_t packed) {
  return make_float2(__uint_as_float(packed << 16), __uint_as_float(packed & 0xFFFF0000u));
}
template <>
__device__ __forceinline__ float2 unpack<__half>(std::uint32_t packed) {
  return __half22float2(*reinterpret_cast<const __half2*>(&packed));
}

// ---- Producer ----

// Zeros to the rows whose bit is set in `mask` of 32 consecutive ones from `rows` on, by a warp.
template <int kRowBytes>
__device__ __forceinline__ void store_zeros(char* rows, std::uint32_t mask) {
  const int at = threadIdx.x % 32 * 16;
  char* target = rows + at;
  asm volatile("" : "+l"(target));  // one address, whose distances are part of the instructions
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

// Clears the rows of O and LSE that no tile covers, a window of 32 rows (position, head) at a step of one
// warp; the warps of a block share its windows. Ordinary stores: bulk stores would queue up in front of the
// loads of K and V. Returns whether there was a window left.
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
  if (p.o_fp32 != 0) {
    store_zeros<S::kDim * 4>(o + static_cast<std::uint64_t>(window) * (32 * S::kDim * 4), mask);
  } else {
    store_zeros<S::kDim * 2>(o + static_cast<std::uint64_t>(window) * (32 * S::kDim * 2), mask);
  }
  return true;
}

// While this block computes, its two clearing warps keep to a moderate pace, so that its loads hardly wait;
// with few keys a tile, memory bounds the whole anyway.
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

template <class S>
__device__ __forceinline__ int key_blocks(const ForwardTile& tile) {
  return (tile.key_count + S::kKeys - 1) / S::kKeys;
}

// One thread: claims tiles in list order and hands them to the other roles through the ring of slots. A tile
// without queries ends the work. The last block to end leaves the counters as zeros.
template <class S>
struct Claims {
  Ring<S::kTileSlots> ring;
  bool more = true;

  __device__ __forceinline__ void claim(const KernelParams& p, unsigned char* shared, std::uint32_t base) {
    if (!more) return;
    barrier_wait(base + S::kTileEmpty + 8 * ring.stage, ring.parity ^ 1);
    const int claimed = atomicAdd(&p.counters[0], 1);
    more = claimed < p.tile_count;
    ForwardTile tile = {};
    if (more) tile = p.tiles[claimed];
    reinterpret_cast<ForwardTile*>(shared + S::kTileAt)[ring.stage] = tile;
    barrier_arrive(base + S::kTileFull + 8 * ring.stage);
    ring.advance();
    if (!more && atomicAdd(&p.counters[1], 1) == static_cast<int>(gridDim.x) - 1) {
      p.counters[0] = 0;
      p.counters[1] = 0;
    }
  }
};

template <class S>
__device__ __forceinline__ const ForwardTile& next_tile(unsigned char* shared, std::uint32_t base,
                                                        const Ring<S::kTileSlots>& ring) {
  barrier_wait(base + S::kTileFull + 8 * ring.stage, ring.parity);
  return reinterpret_cast<const ForwardTile*>(shared + S::kTileAt)[ring.stage];
}

// This warp's share of the Q rows of a tile: 32 rows at a time, two rows (head_dim 128) or four an
// instruction. The last row fills the 64 of its group: what stood there before might be no numbers.
template <class S>
__device__ __forceinline__ void load_queries(const KernelParams& p, const ForwardTile& tile,
                                             std::uint32_t target, int warp, int warps) {
  constexpr int kRowChunks = S::kDim / 8;
  constexpr int kTogether = 32 / kRowChunks;
  int lane = threadIdx.x % 32;
  if constexpr (S::kGathered) asm volatile("" : "+r"(lane));  // not worth registers between tiles
  const int chunk = lane % kRowChunks;
  const std::uint32_t row_bytes = p.heads * (S::kDim * 2);
  const char* q = static_cast<const char*>(p.q) +
                  (static_cast<std::int64_t>(tile.batch) * p.sequence * p.heads + tile.head) * (S::kDim * 2) +
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
        from[j] = multiply_add(source, row_bytes, q);
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        copy_async(target + swizzled(first + (i + j) * kTogether + lane / kRowChunks, chunk % 8), from[j],
                   kEvictFirst);
      }
    }
  }
}

// Strided rows: one block of K or V from row `row` of a residue on.
template <class S>
__device__ __forceinline__ void load_block(const CUtensorMap* map, const ForwardTile& tile, int residue,
                                           int row, std::uint32_t target, std::uint32_t full) {
  barrier_arrive_expect(full, S::kBlockBytes);
  for (int c = 0; c < S::kDim / 64; ++c) {
    tma_load(target + c * (S::kKeys * 128), map, full, kEvictLast, c * 64, residue, row, tile.kv_head,
             tile.batch);
  }
}

template <class S>
__device__ __forceinline__ void produce_strided(const KernelParams& p, const StridedMaps& maps,
                                                unsigned char* shared, std::uint32_t base) {
  Ring<S::kTileSlots> tiles;
  Ring<S::kKStages> k;
  Ring<S::kVStages> v;
  while (true) {
    const ForwardTile& tile = next_tile<S>(shared, base, tiles);
    if (tile.query_count == 0) return;
    const int blocks = key_blocks<S>(tile);
    const int residue = tile.key_slot % p.key_slot_step;
    const int which = residue < p.kv_rows % p.key_slot_step ? 1 : 0;
    const int step = tile.keys_backwards != 0 ? -S::kKeys : S::kKeys;
    int row = tile.key_slot / p.key_slot_step + (tile.keys_backwards != 0 ? (blocks - 1) * S::kKeys : 0);
    for (int i = 0; i <= blocks; ++i, row += step) {
      if (i < blocks) {
        barrier_wait(base + S::kKEmpty + 8 * k.stage, k.parity ^ 1);
        load_block<S>(&maps.k[which], tile, residue, row, base + S::kKAt + k.stage * S::kBlockBytes,
                      base + S::kKFull + 8 * k.stage);
        k.advance();
      }
      if (i > 0) {
        barrier_wait(base + S::kVEmpty + 8 * v.stage, v.parity ^ 1);
        load_block<S>(&maps.v[which], tile, residue, row - step, base + S::kVAt + v.stage * S::kBlockBytes,
                      base + S::kVFull + 8 * v.stage);
        v.advance();
      }
    }
    barrier_arrive(base + S::kTileEmpty + 8 * tiles.stage);
    tiles.advance();
  }
}

// One warp: claims tiles and fetches their Q.
template <class S>
__device__ __forceinline__ void produce_queries(const KernelParams& p, unsigned char* shared,
                                                std::uint32_t base) {
  Ring<S::kTileSlots> tiles;
  Ring<S::kQStages> q;
  Claims<S> claims;
  while (true) {
    if (threadIdx.x % 32 == 0) claims.claim(p, shared, base);
    __syncwarp();
    const ForwardTile& tile = next_tile<S>(shared, base, tiles);
    if (tile.query_count == 0) return;
    barrier_wait(base + S::kQEmpty + 8 * q.stage, q.parity ^ 1);
    load_queries<S>(p, tile, base + S::kQAt + q.stage * S::kQBytes, 0, 1);
    barrier_arrive_copies(base + S::kQFull + 8 * q.stage);
    q.advance();
    __syncwarp();
    if (threadIdx.x % 32 == 0) barrier_arrive(base + S::kTileEmpty + 8 * tiles.stage);
    tiles.advance();
  }
}

// Every warp of the producers: its share of Q, K and V; the first claims tiles as well, one ahead. The slots
// of a block are fetched while the block before is, those of a tile's first one with the last block of the
// tile before. All stages follow from the numbers of the tile and of the block.
template <class S>
__device__ __forceinline__ void produce_gathered(const KernelParams& p, unsigned char* shared,
                                                 std::uint32_t base) {
  typename S::Gather rows(base + S::kSlotAt);
  std::uint32_t number = 0;  // of the tile
  std::uint32_t block = 0;   // of all tiles
  const auto load_keys = [&](std::uint32_t passed) {
    const auto at = Ring<S::kKStages>::at(passed);
    barrier_wait(base + S::kKEmpty + 8 * at.stage, at.parity ^ 1);
    rows.load(p.k, passed, base + S::kKAt + at.stage * S::kBlockBytes);
    barrier_arrive_copies(base + S::kKFull + 8 * at.stage);
  };
  const auto load_values = [&](std::uint32_t passed) {
    const auto at = Ring<S::kVStages>::at(passed);
    barrier_wait(base + S::kVEmpty + 8 * at.stage, at.parity ^ 1);
    rows.load(p.v, passed, base + S::kVAt + at.stage * S::kBlockBytes);
    barrier_arrive_copies(base + S::kVFull + 8 * at.stage);
  };
  const auto fetch_first = [&](const ForwardTile& tile) {
    const int begin = tile.keys_backwards != 0 ? (key_blocks<S>(tile) - 1) * S::kKeys : 0;
    if (tile.key_count > 0) rows.fetch(p.key_slots + tile.key_begin, begin, tile.key_count - 1);
  };
  const auto claim = [&](std::uint32_t passed) {
    if (threadIdx.x == 0) Claims<S>{Ring<S::kTileSlots>::at(passed)}.claim(p, shared, base);
    __syncwarp();
  };
  claim(0);
  const ForwardTile* tile = &next_tile<S>(shared, base, Ring<S::kTileSlots>::at(0));
  fetch_first(*tile);
  while (uniform(tile->query_count) != 0) {
    const auto q = Ring<S::kQStages>::at(number);
    barrier_wait(base + S::kQEmpty + 8 * q.stage, q.parity ^ 1);
    load_queries<S>(p, *tile, base + S::kQAt + q.stage * S::kQBytes, uniform(threadIdx.x / 32),
                    S::kProducerWarps);
    barrier_arrive_copies(base + S::kQFull + 8 * q.stage);
    const std::uint32_t first_row =
        static_cast<std::uint32_t>(tile->batch) * p.kv_rows * p.kv_heads + tile->kv_head;
    const std::int32_t* slots = p.key_slots + tile->key_begin;
    const int last = tile->key_count - 1;
    const int blocks = uniform(key_blocks<S>(*tile));
    const int step = tile->keys_backwards != 0 ? -S::kKeys : S::kKeys;
    int begin = step < 0 ? (blocks - 1) * S::kKeys : 0;
    for (int i = 0; i < blocks; ++i, ++block) {
      __syncwarp();  // all have read what is overwritten now
      rows.keep(block, first_row, p.kv_heads);
      __syncwarp();
      begin += step;
      if (i + 1 < blocks) rows.fetch(slots, begin, last);
      load_keys(block);
      if (i > 0) {
        load_values(block - 1);
      } else {
        claim(number + 1);
      }
      if (i % S::kProducerWarps == uniform(threadIdx.x / 32)) clear_window<S>(p, shared);
    }
    if (blocks == 0) claim(number + 1);
    ++number;
    tile = &next_tile<S>(shared, base, Ring<S::kTileSlots>::at(number));
    fetch_first(*tile);
    if (blocks > 0) load_values(block - 1);
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
      barrier_arrive(base + S::kTileEmpty + 8 * Ring<S::kTileSlots>::at(number - 1).stage);
    }
  }
}

template <class S>
__device__ __forceinline__ void produce(const KernelParams& p, const StridedMaps& maps, unsigned char* shared,
                                        std::uint32_t base) {
  if constexpr (S::kGathered) {
    produce_gathered<S>(p, shared, base);
  } else {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (warp == 0) {
      if (lane == 0) produce_strided<S>(p, maps, shared, base);
    } else if (warp == 1) {
      produce_queries<S>(p, shared, base);
    } else {
      clear_beside<S>(p, shared);
    }
  }
}

// ---- Consumers ----

// S = Q K^T of 64 query rows.
template <class S>
__device__ __forceinline__ void multiply_keys(float (&s)[S::kKeys / 2], std::uint32_t q, std::uint32_t k) {
  const std::uint64_t a = wgmma_descriptor(q, 16);
  const std::uint64_t b = wgmma_descriptor(k, 16);
#pragma unroll
  for (int i = 0; i < S::kDim / 16; ++i) {
    wgmma_shared(typename S::T{}, s, a + (i / 4 * (S::kRows * 128) + i % 4 * 32) / 16,
                 b + (i / 4 * (S::kKeys * 128) + i % 4 * 32) / 16, i > 0);
  }
}

// O += P V.
template <class S>
__device__ __forceinline__ void multiply_values(float (&o)[S::kDim / 2],
                                                const std::uint32_t (&p)[S::kKeys / 4], std::uint32_t v) {
  const std::uint64_t b = wgmma_descriptor(v, S::kKeys * 128);
#pragma unroll
  for (int i = 0; i < S::kKeys / 16; ++i)
    wgmma_registers(typename S::T{}, o, &p[4 * i], b + i * (16 * 128 / 16));
}

// Running softmax of two rows a thread (l / 4 and 8 below), in units of raw scores; `sum` holds this thread's
// columns only until the end. `maximum` is only a common scale: that of the first block serves until some
// exponential of a later block grows large.
template <class S>
struct Softmax {
  static constexpr float kLarge = 32768.0f;  // of a thread's sum in a block; below what fp16 holds
  float maximum[2], sum[2], factor[2];
  float scale_log2;

  __device__ __forceinline__ static float quad_max(float x) {
    x = fmaxf(x, __shfl_xor_sync(0xFFFFFFFFu, x, 1));
    return fmaxf(x, __shfl_xor_sync(0xFFFFFFFFu, x, 2));
  }
  __device__ __forceinline__ static float quad_sum(float x) {
    x += __shfl_xor_sync(0xFFFFFFFFu, x, 1);
    return x + __shfl_xor_sync(0xFFFFFFFFu, x, 2);
  }

  // Raises `maximum` to that of the scores; `factor` is for what was summed before.
  __device__ __forceinline__ void raise(const float (&s)[S::kKeys / 2]) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float a = fmaxf(s[2 * r], s[2 * r + 1]);
      float b = fmaxf(s[4 + 2 * r], s[4 + 2 * r + 1]);
#pragma unroll
      for (int g = 2; g < S::kKeys / 8; g += 2) {
        a = fmaxf(a, fmaxf(s[4 * g + 2 * r], s[4 * g + 2 * r + 1]));
        b = fmaxf(b, fmaxf(s[4 * g + 4 + 2 * r], s[4 * g + 4 + 2 * r + 1]));
      }
      const float before = maximum[r];
      maximum[r] = fmaxf(before, quad_max(fmaxf(a, b)));
      // A row that has seen no key yet: its sum and O are 0.
      factor[r] = maximum[r] == -INFINITY ? 1.0f : exp2_fast((before - maximum[r]) * scale_log2);
    }
  }

  // Scores to exp(scores - maximum); `block_sum` gets the sums of this thread's columns.
  __device__ __forceinline__ void exponentials(float (&s)[S::kKeys / 2], float (&block_sum)[2]) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float shift = S::kCausal && maximum[r] == -INFINITY ? 0.0f : maximum[r] * scale_log2;
      float a = 0, b = 0;
#pragma unroll
      for (int g = 0; g < S::kKeys / 8; ++g) {
        float& x = s[4 * g + 2 * r];
        float& y = s[4 * g + 2 * r + 1];
        x = fmaf(x, scale_log2, -shift);
        y = fmaf(y, scale_log2, -shift);
        x = exp2_fast(x);
        y = exp2_fast(y);
        a += x;
        b += y;
      }
      block_sum[r] = a + b;
    }
  }

  // Whether a block's exponentials must be computed once more, after raise(): the same for a whole warp.
  __device__ __forceinline__ bool too_large(const float (&block_sum)[2]) const {
    bool is = !(block_sum[0] < kLarge && block_sum[1] < kLarge);
    if constexpr (S::kCausal) is = is || maximum[0] == -INFINITY || maximum[1] == -INFINITY;
    return __any_sync(0xFFFFFFFFu, is);
  }
};

// S = Q K^T of this warp's 16 query rows once more, by its own products: those of the warp group are gone
// once they are exponentials.
template <class S>
__device__ __forceinline__ void repeat_scores(float (&s)[S::kKeys / 2], std::uint32_t q, std::uint32_t k) {
  const int lane = threadIdx.x % 32;
  const std::uint32_t row = threadIdx.x / 32 % 4 * 16 + lane % 16;
  const std::uint32_t key = lane / 16 * 8 + lane % 8;
#pragma unroll
  for (int i = 0; i < S::kKeys / 2; ++i) s[i] = 0;
#pragma unroll 1  // seldom run: small rather than fast
  for (int i = 0; i < S::kDim / 16; ++i) {
    std::uint32_t a[4];
    load_matrices(a, q + i / 4 * (S::kRows * 128) + swizzled(row, i % 4 * 2 + lane / 16));
    const std::uint32_t keys = k + i / 4 * (S::kKeys * 128) + swizzled(key, i % 4 * 2 + lane / 8 % 2);
#pragma unroll
    for (int g = 0; g < S::kKeys / 8; g += 2) {
      std::uint32_t b[4];
      load_matrices(b, keys + g * (8 * 128));
      cuda::multiply_add<typename S::T>(reinterpret_cast<float(&)[4]>(s[4 * g]), a, b[0], b[1]);
      cuda::multiply_add<typename S::T>(reinterpret_cast<float(&)[4]>(s[4 * g + 4]), a, b[2], b[3]);
    }
  }
  __syncwarp();  // all lanes have read before one of them releases the block
}

template <class S>
__device__ __forceinline__ void pack_scores(std::uint32_t (&p)[S::kKeys / 4],
                                            const float (&s)[S::kKeys / 2]) {
#pragma unroll
  for (int i = 0; i < S::kKeys / 4; ++i) p[i] = pack<typename S::T>(s[2 * i], s[2 * i + 1]);
}

// -infinity for the keys of the block from `begin` that a row does not see: by position those from limit on
// of each of a thread's two rows.
template <class S>
__device__ __forceinline__ void mask_scores(float (&s)[S::kKeys / 2], const KernelParams& p,
                                            const ForwardTile& tile, int begin, const int (&limit)[2],
                                            int row_position) {
  const int column = begin + threadIdx.x % 4 * 2;
  if (S::kCausal && p.key_positions != nullptr) {
    const std::int32_t* positions = p.key_positions + tile.key_begin;
    const int key_count = tile.key_count;
#pragma unroll
    for (int i = 0; i < S::kKeys / 4; ++i) {
      const int key = column + i / 2 * 8 + i % 2;
      const int position = key < key_count ? positions[key] : 0x7FFFFFFF;
      if (position > row_position) s[i / 2 * 4 + i % 2] = -INFINITY;
      if (key >= key_count || position > row_position + 8 * p.query_step)
        s[i / 2 * 4 + 2 + i % 2] = -INFINITY;
    }
  } else {
#pragma unroll
    for (int i = 0; i < S::kKeys / 2; ++i) {
      if (column + i / 4 * 8 + i % 2 >= limit[i / 2 % 2]) s[i] = -INFINITY;
    }
  }
}

// Rows of V past the keys: P is 0 there, but 0 times an infinity of another segment is not. Every group
// clears them for itself.
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

// 4 x 4 words among the four lanes of a quad: lane l ends up with word l of each lane, in the lanes' order.
__device__ __forceinline__ void transpose_quad(std::uint32_t (&x)[4]) {
  const bool odd = (threadIdx.x & 1) != 0;
  const bool high = (threadIdx.x & 2) != 0;
#pragma unroll
  for (int i = 0; i < 4; i += 2) {
    const std::uint32_t got = __shfl_xor_sync(0xFFFFFFFFu, odd ? x[i] : x[i + 1], 1);
    (odd ? x[i] : x[i + 1]) = got;
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const std::uint32_t got = __shfl_xor_sync(0xFFFFFFFFu, high ? x[i] : x[i + 2], 2);
    (high ? x[i] : x[i + 2]) = got;
  }
}

// O and LSE of one row of a thread, `r` 0 or 1.
template <class S>
__device__ __forceinline__ void store_row(const KernelParams& p, std::int64_t row, bool valid, bool merge,
                                          float (&o)[S::kDim / 2], float maximum, float sum, int r) {
  const int quad = threadIdx.x % 4;
  float lse = sum == 0 ? -INFINITY : maximum * p.scale + __log2f(sum) * kLn2;
  float weight = sum == 0 ? 0.0f : 1.0f / sum;
  float weight_before = 0;
  if (merge) {
    const float before = valid ? p.lse[row] : -INFINITY;
    const float top = fmaxf(before, lse);
    if (top != -INFINITY) {
      const float share_before = exp2_fast((before - top) * kLog2e);
      const float share = exp2_fast((lse - top) * kLog2e);
      lse = top + __log2f(share_before + share) * kLn2;
      weight_before = share_before / (share_before + share);
      weight *= share / (share_before + share);
    }
    __syncwarp();
  }
  if (valid && quad == 0) p.lse[row] = lse;
  if (p.o_fp32 != 0) {
    float* target = static_cast<float*>(p.o) + row * S::kDim + quad * 2;
    constexpr int kInFlight = 8;  // loads before the first store, which might be to the same memory
#pragma unroll
    for (int first = 0; first < S::kDim / 8; first += kInFlight) {
      float2 before[kInFlight] = {};
      if (merge && valid) {
#pragma unroll
        for (int i = 0; i < kInFlight; ++i)
          before[i] = *reinterpret_cast<const float2*>(target + 8 * (first + i));
      }
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) {
        const int at = 4 * (first + i) + 2 * r;
        const float2 x = make_float2(fmaf(before[i].x, weight_before, o[at] * weight),
                                     fmaf(before[i].y, weight_before, o[at + 1] * weight));
        if (valid) *reinterpret_cast<float2*>(target + 8 * (first + i)) = x;
      }
    }
    return;
  }
  auto* target = static_cast<typename S::T*>(p.o) + row * S::kDim;
#pragma unroll
  for (int g = 0; g < S::kDim / 8; g += 4) {
    std::uint32_t words[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float x = o[4 * (g + i) + 2 * r] * weight;
      float y = o[4 * (g + i) + 2 * r + 1] * weight;
      if (merge && valid) {
        const float2 before =
            unpack<typename S::T>(*reinterpret_cast<const std::uint32_t*>(target + 8 * (g + i) + quad * 2));
        x = fmaf(before.x, weight_before, x);
        y = fmaf(before.y, weight_before, y);
      }
      words[i] = pack<typename S::T>(x, y);
    }
    transpose_quad(words);
    if (valid) {
      *reinterpret_cast<uint4*>(target + 8 * (g + quad)) = make_uint4(words[0], words[1], words[2], words[3]);
    }
  }
}

template <class S>
struct Consumer {
  const KernelParams& p;
  std::uint32_t base;
  int group;
  Ring<S::kQStages> q;
  Ring<S::kKStages> k;
  Ring<S::kVStages> v;

  // Where threads fill the stages, every thread that may have read one (repeat_scores) lets it go itself.
  __device__ __forceinline__ void release(std::uint32_t barrier) const {
    if (S::kGathered || threadIdx.x % 32 == 0) barrier_arrive(barrier);
  }
  // Rows gathered by copies of threads must be shown to the tensor cores.
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

  // Lets blocks that are not this group's pass through the stages.
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

  __device__ __forceinline__ void work(const ForwardTile& tile) {
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
    fence_proxy_async();  // Q came by copies of threads
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
        // P V of the block before is done: its P may be overwritten.
        const auto end_values = [&] {
          wgmma_wait<0>();
          wgmma_pin(o);
          pack_scores<S>(probabilities, s);
        };
        float block_sum[2];
        to_exponentials(block_sum, false);
        if constexpr (S::kPackEarly) end_values();
        const bool scales = softmax.too_large(block_sum);
        // Not all warps of a group come here: nothing of it concerns the tensor cores of the group.
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
  Ring<S::kTileSlots> tiles;
  while (true) {
    const ForwardTile& tile = next_tile<S>(shared, base, tiles);
    if (uniform(tile.query_count) == 0) break;
    consumer.work(tile);
    __syncwarp();
    if (threadIdx.x % 32 == 0) barrier_arrive(base + S::kTileEmpty + 8 * tiles.stage);
    tiles.advance();
  }
  if (group == 0) named_sync(1, 2 * kGroupThreads);
  *reinterpret_cast<volatile int*>(shared + S::kFinishedAt) = 1;
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
  fence_barrier_init();
}

template <class S>
__global__ void __launch_bounds__(S::kThreads, 1)
    dilated_wgmma(const __grid_constant__ KernelParams p, const __grid_constant__ StridedMaps maps) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const std::uint32_t base = shared_address(shared);
  if (threadIdx.x == 0) {
    init_barriers<S>(base);
    *reinterpret_cast<int2*>(shared + S::kFinishedAt) = int2{};
  }
  __syncthreads();
  if (uniform(threadIdx.x / kGroupThreads) == 0) {
    registers_shrink<S::kProducerRegisters>();
    produce<S>(p, maps, shared, base);
  } else {
    registers_grow<S::kConsumerRegisters>();
    consume<S>(p, shared, base);
  }
  __syncwarp();
  while (clear_window<S>(p, shared)) {
  }
}

template <class S>
void launch_instance(const KernelParams& params, const StridedMaps& maps, int blocks, cudaStream_t stream) {
  dilated_wgmma<S><<<blocks, S::kThreads, S::kSharedBytes, stream>>>(params, maps);
}

// How one shape is launched.
struct Instance {
  void (*launch)(const KernelParams&, const StridedMaps&, int, cudaStream_t);
  const void* function;
  int shared_bytes;
  int block_keys;
};

template <class S>
Instance instance_of() {
  return {launch_instance<S>, reinterpret_cast<const void*>(&dilated_wgmma<S>), S::kSharedBytes, S::kKeys};
}

template <typename T, int kDim>
Instance choose(bool causal, bool gathered) {
  if (causal)
    return gathered ? instance_of<Shape<T, kDim, true, true>>() : instance_of<Shape<T, kDim, true, false>>();
  return gathered ? instance_of<Shape<T, kDim, false, true>>() : instance_of<Shape<T, kDim, false, false>>();
}

Instance choose(const ForwardShape& shape, bool gathered) {
  if (shape.head_dim != 64 && shape.head_dim != 128) {
    throw std::invalid_argument("dilated_wgmma takes head_dim 64 and 128");
  }
  const bool wide = shape.head_dim == 128;
  switch (shape.element) {
    case Element::bf16:
      return wide ? choose<__nv_bfloat16, 128>(shape.causal, gathered)
                  : choose<__nv_bfloat16, 64>(shape.causal, gathered);
    case Element::fp16:
      return wide ? choose<__half, 128>(shape.causal, gathered) : choose<__half, 64>(shape.causal, gathered);
    default:
      throw std::invalid_argument("dilated_wgmma takes bf16 and fp16");
  }
}

class DilatedWgmma : public ForwardKernel {
 public:
  explicit DilatedWgmma(const ForwardShape& shape)
      : shape_(shape), strided_(choose(shape, false)), gathered_(choose(shape, true)) {
    int device = 0;
    HILBENCH_CUDA(cudaGetDevice(&device));
    HILBENCH_CUDA(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device));
    for (const Instance& instance : {strided_, gathered_}) {
      HILBENCH_CUDA(cudaFuncSetAttribute(instance.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         instance.shared_bytes));
    }
  }

  bool clears() const override { return true; }

  void launch(const ForwardParams& params, cudaStream_t stream) override {
    if (params.tile_count == 0 && params.fill == nullptr) return;
    const bool clears_apart = params.fill != nullptr && params.any_merge != 0;
    if (clears_apart) clear_uncovered(shape_, params, stream);
    const bool gathered = params.key_slots != nullptr;
    const Instance& instance = gathered ? gathered_ : strided_;
    const KernelParams kernel = {params.q,         params.k,
                                 params.v,         params.o,
                                 params.lse,       params.q_slots,
                                 params.key_slots, params.key_positions,
                                 params.tiles,     clears_apart ? nullptr : params.fill,
                                 params.counters,  params.tile_count,
                                 shape_.sequence,  params.kv_rows,
                                 shape_.batch,     shape_.heads,
                                 shape_.kv_heads,  params.query_step,
                                 params.key_step,  params.key_slot_step,
                                 params.o_fp32,    params.scale};
    const StridedMaps maps = gathered ? StridedMaps{} : maps_.of(shape_, params, instance.block_keys);
    const int blocks =
        kernel.fill != nullptr ? multiprocessors_ : std::min(multiprocessors_, params.tile_count);
    instance.launch(kernel, maps, blocks, stream);
    HILBENCH_CUDA(cudaGetLastError());
  }

 private:
  ForwardShape shape_;
  Instance strided_;
  Instance gathered_;
  int multiprocessors_ = 0;
  StridedMapCache maps_;
};

}  // namespace

std::int32_t dilated_wgmma_tile_rows(const ForwardShape& shape) {
  return shape.head_dim == 64 ? 192 : 128;
}

std::unique_ptr<ForwardKernel> make_dilated_wgmma(const ForwardShape& shape) {
  return std::make_unique<DilatedWgmma>(shape);
}

}  // namespace hilbench::cuda
