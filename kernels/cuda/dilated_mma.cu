// Attention of one branch on the matrix units of compute capability 8.0 and up, for bf16 and fp16.
//
// One block of threads computes one ForwardTile: S = Q K^T, P = exp(scale S - m), O = P V / l over blocks of
// keys with the running maximum m and sum l of every row kept in registers (online softmax; FlashAttention-2,
// arXiv 2307.08691, Algorithm 1). A warp owns 16 or 32 rows of Q; K and V stand in shared memory as a ring of
// blocks that cp.async fills, their 16-byte chunks swizzled so that ldmatrix meets no bank twice. The product
// P V of one block of keys is interleaved with the exponentials of the next.
//
// Does not handle fp32 and head dimensions other than those of make_dilated_mma().
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "kernels/cuda/element.cuh"
#include "kernels/cuda/forward.hpp"
#include "kernels/cuda/mma.cuh"
#include "kernels/cuda/status.hpp"

namespace hilbench::cuda {

namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
constexpr std::int32_t kLastLabel = std::numeric_limits<std::int32_t>::max();
constexpr int kRing = 3;        // blocks of K or V in shared memory
constexpr int kSlotBlocks = 4;  // blocks of key_slots entries in shared memory

// How rows of K and V are found.
enum class Rows { strided, gathered };

template <class T, int kHeadDim_, int kRowTiles_, int kWarps_, int kKeys_, bool kQueryRegisters_,
          int kInterleaved_, int kBlocksPerSm_, int kFlags_ = 0>
struct Tiling {
  using Element = T;
  static constexpr int kHeadDim = kHeadDim_;
  static constexpr int kRowTiles = kRowTiles_;  // 16-row tiles of a warp
  static constexpr int kWarps = kWarps_;
  static constexpr int kKeys = kKeys_;                       // keys of a block
  static constexpr bool kQueryRegisters = kQueryRegisters_;  // Q stays in registers
  static constexpr int kInterleaved = kInterleaved_;
  static constexpr int kFlags = kFlags_;
  static constexpr int kBlocksPerSm = kBlocksPerSm_;
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kRows = 16 * kRowTiles * kWarps;
  static constexpr int kRowBytes = 2 * kHeadDim;
  static constexpr int kChunks = kRowBytes / 16;
  static constexpr int kQueryBytes = kRows * kRowBytes;
  static constexpr int kBlockBytes = kKeys * kRowBytes;
  static constexpr int kSlotBytes = kKeys * 4;
  static constexpr int kSharedBytes = kQueryBytes + kRing * kBlockBytes + kSlotBlocks * kSlotBytes;
  static_assert(kSharedBytes <= 227 * 1024, "the shared memory of compute capability 8.6");
  static_assert(kHeadDim % 32 == 0 && kKeys % 16 == 0);
};

// Bytes after which the swizzle repeats along a row: eight or four 16-byte chunks.
template <class Tile>
constexpr int kSwizzlePeriod = Tile::kHeadDim % 64 == 0 ? 128 : 64;

// Chunk c of row r stands at chunk c ^ swizzle(r): eight rows of the same chunk lie in eight different groups
// of four banks.
template <class Tile>
__device__ __forceinline__ int swizzle(int row) {
  return kSwizzlePeriod<Tile> == 128 ? row & 7 : (row >> 1) & 3;
}

// Address of chunk pair `pair` (32 bytes) in the row whose pair 0 is at `row` as seen by this lane.
template <class Tile>
__device__ __forceinline__ std::uint32_t pair_address(std::uint32_t row, int pair) {
  constexpr int period = kSwizzlePeriod<Tile>;
  return (row ^ (pair * 32 % period)) + pair * 32 / period * period;
}

template <class Tile>
using Scores = float[Tile::kRowTiles][Tile::kKeys / 8][4];
template <class Tile>
using Output = float[Tile::kRowTiles][Tile::kHeadDim / 8][4];
// P as left operand of P V: [16 rows][16 keys].
template <class Tile>
using Probabilities = std::uint32_t[Tile::kRowTiles][Tile::kKeys / 16][4];
template <class Tile>
using Queries = std::uint32_t[Tile::kQueryRegisters ? Tile::kRowTiles : 1]
                             [Tile::kQueryRegisters ? Tile::kHeadDim / 16 : 1][4];

// Running softmax of the rows of a thread: rows 8 h + lane / 4 of tile m are [m][h].
template <class Tile>
struct RowState {
  float max[Tile::kRowTiles][2];  // of raw scores
  float sum[Tile::kRowTiles][2];  // of this thread's columns
};

// Copies kCount rows into swizzled shared memory, row r from `head` + slot(r) * slot_bytes; rows from `valid`
// on become zeros.
template <class Tile, int kCount, class Slot>
__device__ __forceinline__ void copy_rows(std::uint32_t shared, const char* head, std::int32_t slot_bytes,
                                          int valid, Slot slot) {
  constexpr int kCopies = kCount * Tile::kChunks;
  constexpr int kPasses = (kCopies + Tile::kThreads - 1) / Tile::kThreads;
  // Where a pass of all threads takes whole rows, a thread keeps its chunk.
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
  std::uint32_t shared_slots;  // ring of kSlotBlocks blocks of entries
  std::uint32_t shared_ring;
  std::uint32_t next;  // ring position, in bytes, of the next copy
  std::uint32_t used;  // and of the next block to read

  // First key of the block visited as number `visit`.
  __device__ __forceinline__ int first_key(int visit) const {
    return (backwards ? blocks - 1 - visit : visit) * Tile::kKeys;
  }

  __device__ __forceinline__ std::uint32_t slot_address(int visit) const {
    return shared_slots + (visit % kSlotBlocks) * Tile::kSlotBytes;
  }

  // Copies the slots of a block beside the copies of rows under way.
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
    next = next == (kRing - 1) * Tile::kBlockBytes ? 0 : next + Tile::kBlockBytes;
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

  // Waits for the oldest block under way. The barrier also tells that all warps have done with the block read
  // before, whose place the next copy takes.
  __device__ __forceinline__ std::uint32_t wait() {
    wait_copies<1>();
    __syncthreads();
    const std::uint32_t address = shared_ring + used;
    used = used == (kRing - 1) * Tile::kBlockBytes ? 0 : used + Tile::kBlockBytes;
    return address;
  }
};

// S = Q K^T for one block of keys.
template <class Tile>
__device__ __forceinline__ void compute_scores(Scores<Tile>& s, const Queries<Tile>& q,
                                               std::uint32_t query_row, std::uint32_t block, int lane) {
#pragma unroll
  for (int m = 0; m < Tile::kRowTiles; ++m)
#pragma unroll
    for (int n = 0; n < Tile::kKeys / 8; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) s[m][n][i] = 0;
  // Matrices 0 and 1: keys 0-7, columns 0-7 and 8-15; matrices 2 and 3: keys 8-15.
  const int key = (lane & 7) + ((lane >> 4) << 3);
  const std::uint32_t key_row =
      block + key * Tile::kRowBytes + ((((lane >> 3) & 1) ^ swizzle<Tile>(key)) << 4);
#pragma unroll
  for (int d = 0; d < Tile::kHeadDim / 16; ++d) {
    std::uint32_t a[Tile::kRowTiles][4];
#pragma unroll
    for (int m = 0; m < Tile::kRowTiles; ++m) {
      if constexpr (Tile::kQueryRegisters) {
#pragma unroll
        for (int i = 0; i < 4; ++i) a[m][i] = q[m][d][i];
      } else {
        load_matrices(a[m], pair_address<Tile>(query_row, d) + m * 16 * Tile::kRowBytes);
      }
    }
#pragma unroll
    for (int n = 0; n < Tile::kKeys / 16; ++n) {
      std::uint32_t b[4];
      load_matrices(b, pair_address<Tile>(key_row, d) + n * 16 * Tile::kRowBytes);
#pragma unroll
      for (int m = 0; m < Tile::kRowTiles; ++m) {
        multiply_add<typename Tile::Element>(s[m][2 * n], a[m], b[0], b[1]);
        multiply_add<typename Tile::Element>(s[m][2 * n + 1], a[m], b[2], b[3]);
      }
    }
  }
}

// O += P V for the 16 keys number `step` of a block.
template <class Tile>
__device__ __forceinline__ void add_values(Output<Tile>& o, const Probabilities<Tile>& p, std::uint32_t block,
                                           int step, int lane) {
  // Matrices 0 and 1: keys 0-7 and 8-15 of columns 0-7; matrices 2 and 3: of columns 8-15.
  const int key = lane & 15;
  const std::uint32_t row = block + key * Tile::kRowBytes + (((lane >> 4) ^ swizzle<Tile>(key)) << 4);
#pragma unroll
  for (int n = 0; n < Tile::kHeadDim / 16; ++n) {
    std::uint32_t b[4];
    load_matrices_transposed(b, pair_address<Tile>(row, n) + step * 16 * Tile::kRowBytes);
#pragma unroll
    for (int m = 0; m < Tile::kRowTiles; ++m) {
      multiply_add<typename Tile::Element>(o[m][2 * n], p[m][step], b[0], b[1]);
      multiply_add<typename Tile::Element>(o[m][2 * n + 1], p[m][step], b[2], b[3]);
    }
  }
}

// Which keys a row sees: those whose label is below the row's limit. Labels are numbers of keys in the tile
// or, where a table tells positions, positions.
template <class Tile>
struct Mask {
  const std::int32_t* positions;  // of key 0; null: labels are numbers
  std::int32_t key_count;
  std::int32_t limit[Tile::kRowTiles][2];

  __device__ __forceinline__ std::int32_t label(int key) const {
    if (positions == nullptr) return key;
    return key < key_count ? __ldg(positions + key) : kLastLabel;
  }

  __device__ __forceinline__ void apply(Scores<Tile>& s, int first_key, int lane) const {
#pragma unroll
    for (int n = 0; n < Tile::kKeys / 8; ++n)
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        const std::int32_t key_label = label(first_key + n * 8 + (lane & 3) * 2 + c);
#pragma unroll
        for (int m = 0; m < Tile::kRowTiles; ++m)
#pragma unroll
          for (int h = 0; h < 2; ++h)
            if (key_label >= limit[m][h]) s[m][n][2 * h + c] = kMinusInfinity;
      }
  }
};

// Takes the maxima of a block into the state. `shift` becomes the new maximum times scale_log2, 0 where no
// key was seen yet, and `decay` the factor by which sums so far shrink.
template <class Tile>
__device__ __forceinline__ void take_maxima(RowState<Tile>& state, float (&shift)[Tile::kRowTiles][2],
                                            float (&decay)[Tile::kRowTiles][2], const Scores<Tile>& s,
                                            float scale_log2) {
#pragma unroll
  for (int m = 0; m < Tile::kRowTiles; ++m)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float max = fmaxf(s[m][0][2 * h], s[m][0][2 * h + 1]);
#pragma unroll
      for (int n = 1; n < Tile::kKeys / 8; ++n) max = fmaxf(max, fmaxf(s[m][n][2 * h], s[m][n][2 * h + 1]));
      max = fmaxf(max, __shfl_xor_sync(0xffffffff, max, 1));
      max = fmaxf(max, __shfl_xor_sync(0xffffffff, max, 2));
      max = fmaxf(max, state.max[m][h]);
      shift[m][h] = max == kMinusInfinity ? 0 : max * scale_log2;
      decay[m][h] = exp2_fast(state.max[m][h] * scale_log2 - shift[m][h]);
      state.max[m][h] = max;
      state.sum[m][h] *= decay[m][h];
    }
}

// P of the 16 keys number `step`: exponentials, their sums, and the rounding to elements.
template <class Tile>
__device__ __forceinline__ void exponentiate(Probabilities<Tile>& p, RowState<Tile>& state,
                                             const Scores<Tile>& s, const float (&shift)[Tile::kRowTiles][2],
                                             float scale_log2, int step) {
#pragma unroll
  for (int m = 0; m < Tile::kRowTiles; ++m)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int h = i & 1;
      const float* pair = &s[m][2 * step + i / 2][2 * h];
      const float low = exp2_fast(pair[0] * scale_log2 - shift[m][h]);
      const float high = exp2_fast(pair[1] * scale_log2 - shift[m][h]);
      state.sum[m][h] += low + high;
      p[m][step][i] = pack<typename Tile::Element>(low, high);
    }
}

template <class Tile>
__device__ __forceinline__ void rescale(Output<Tile>& o, const float (&decay)[Tile::kRowTiles][2]) {
#pragma unroll
  for (int m = 0; m < Tile::kRowTiles; ++m)
#pragma unroll
    for (int n = 0; n < Tile::kHeadDim / 8; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) o[m][n][i] *= decay[m][i / 2];
}

// Two neighbouring column tiles of a row: lanes exchange so that each holds four neighbouring columns, an
// even lane of the first tile, an odd one of the second.
__device__ __forceinline__ float4 join_columns(float first0, float first1, float second0, float second1,
                                               int lane) {
  const bool odd = (lane & 1) != 0;
  const float other0 = __shfl_xor_sync(0xffffffff, odd ? first0 : second0, 1);
  const float other1 = __shfl_xor_sync(0xffffffff, odd ? first1 : second1, 1);
  return odd ? make_float4(other0, other1, second0, second1) : make_float4(first0, first1, other0, other1);
}

template <class T>
__device__ __forceinline__ float4 load_four(const T* source) {
  return make_float4(widen(source[0]), widen(source[1]), widen(source[2]), widen(source[3]));
}
template <>
__device__ __forceinline__ float4 load_four<float>(const float* source) {
  return *reinterpret_cast<const float4*>(source);
}

template <class T>
__device__ __forceinline__ void store_four(T* target, float4 value) {
  *reinterpret_cast<uint2*>(target) = make_uint2(pack<T>(value.x, value.y), pack<T>(value.z, value.w));
}
template <>
__device__ __forceinline__ void store_four<float>(float* target, float4 value) {
  *reinterpret_cast<float4*>(target) = value;
}

// Weights of what stands in memory and of what the tile adds, and their joint LSE (LongNet, arXiv 2307.02486,
// Eqs. 9-10, in log space).
struct Blend {
  float old_weight;
  float new_weight;
  float lse;
};

__device__ __forceinline__ Blend blend(float old_lse, float new_lse) {
  const float max = fmaxf(old_lse, new_lse);
  if (max == kMinusInfinity) return {0, 0, kMinusInfinity};
  const float old_part = expf(old_lse - max);
  const float new_part = expf(new_lse - max);
  const float sum = old_part + new_part;
  return {old_part / sum, new_part / sum, max + logf(sum)};
}

// Writes O and LSE of the rows of a thread, U being the element of O in memory.
template <class Tile, class U>
__device__ __forceinline__ void write_rows(const Output<Tile>& o, const RowState<Tile>& state,
                                           const ForwardShape& shape, const ForwardParams& params,
                                           const ForwardTile& tile, int first_row, int lane) {
#pragma unroll
  for (int m = 0; m < Tile::kRowTiles; ++m)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float sum = state.sum[m][h];
      sum += __shfl_xor_sync(0xffffffff, sum, 1);
      sum += __shfl_xor_sync(0xffffffff, sum, 2);
      float lse = sum == 0 ? kMinusInfinity : state.max[m][h] * params.scale + logf(sum);
      float weight = sum == 0 ? 0 : 1 / sum;
      float old_weight = 0;
      const int query = first_row + m * 16 + h * 8 + lane / 4;
      const bool write = query < tile.query_count;
      const std::int64_t position = tile.query_first + static_cast<std::int64_t>(query) * params.query_step;
      const std::int64_t row =
          (tile.batch * static_cast<std::int64_t>(shape.sequence) + position) * shape.heads + tile.head;
      if (tile.merge != 0 && write) {
        const Blend parts = blend(params.lse[row], lse);
        weight *= parts.new_weight;
        old_weight = parts.old_weight;
        lse = parts.lse;
      }
      U* target = static_cast<U*>(params.o) + row * Tile::kHeadDim + (lane & 1) * 8 + (lane & 2) * 2;
#pragma unroll
      for (int n = 0; n < Tile::kHeadDim / 8; n += 2) {
        float4 value = join_columns(o[m][n][2 * h] * weight, o[m][n][2 * h + 1] * weight,
                                    o[m][n + 1][2 * h] * weight, o[m][n + 1][2 * h + 1] * weight, lane);
        if (!write) continue;
        if (tile.merge != 0) {
          const float4 old = load_four(target + n * 8);
          value = make_float4(value.x + old_weight * old.x, value.y + old_weight * old.y,
                              value.z + old_weight * old.z, value.w + old_weight * old.w);
        }
        store_four(target + n * 8, value);
      }
      // All lanes of a row have read the old LSE before one of them writes the new.
      __syncwarp();
      if (write && (lane & 3) == 0) params.lse[row] = lse;
    }
}

// Labels of Mask and their limits for the rows of a thread.
template <class Tile>
__device__ __forceinline__ Mask<Tile> make_mask(const ForwardShape& shape, const ForwardParams& params,
                                                const ForwardTile& tile, int first_row, int lane) {
  Mask<Tile> mask;
  const bool by_table = shape.causal && params.key_positions != nullptr;
  mask.positions = by_table ? params.key_positions + tile.key_begin : nullptr;
  mask.key_count = tile.key_count;
#pragma unroll
  for (int m = 0; m < Tile::kRowTiles; ++m)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int query = first_row + m * 16 + h * 8 + lane / 4;
      const int position = tile.query_first + query * params.query_step;
      int limit = tile.key_count;
      if (by_table) {
        limit = position + 1;
      } else if (shape.causal) {
        const int behind = position - tile.key_position;
        limit = behind < 0 ? 0 : min(limit, behind / params.key_step + 1);
      }
      mask.limit[m][h] = limit;
    }
  return mask;
}

template <class Tile, Rows kRowMap>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerSm)
    attend(const ForwardShape shape, const ForwardParams params) {
  using T = typename Tile::Element;
  extern __shared__ __align__(1024) unsigned char shared[];
  // Fields are read again where they are needed after the loop, so that they occupy no registers in it.
  const ForwardTile& tile = params.tiles[blockIdx.x];
  const int lane = threadIdx.x & 31;
  const int first_row = threadIdx.x / 32 * 16 * Tile::kRowTiles;
  const std::uint32_t shared_queries = shared_address(shared);

  KeyStream<Tile, kRowMap> keys;
  const std::int64_t head_offset =
      (tile.batch * static_cast<std::int64_t>(shape.sequence) * shape.kv_heads + tile.kv_head) *
      Tile::kRowBytes;
  keys.k = static_cast<const char*>(params.k) + head_offset;
  keys.v = static_cast<const char*>(params.v) + head_offset;
  keys.slot_bytes = shape.kv_heads * Tile::kRowBytes;
  keys.slots = params.key_slots + (kRowMap == Rows::gathered ? tile.key_begin : 0);
  keys.slot = tile.key_slot;
  keys.slot_step = params.key_slot_step;
  keys.count = tile.key_count;
  keys.blocks = (tile.key_count + Tile::kKeys - 1) / Tile::kKeys;
  keys.backwards = tile.keys_backwards != 0;
  keys.shared_ring = shared_queries + Tile::kQueryBytes;
  keys.shared_slots = keys.shared_ring + kRing * Tile::kBlockBytes;
  keys.next = 0;
  keys.used = 0;

  if constexpr (kRowMap == Rows::gathered) {
    keys.prefetch_slots(0);
    keys.prefetch_slots(1);
    commit_copies();
  }
  const char* q =
      static_cast<const char*>(params.q) +
      (tile.batch * static_cast<std::int64_t>(shape.sequence) * shape.heads + tile.head) * Tile::kRowBytes;
  copy_rows<Tile, Tile::kRows>(
      shared_queries, q, shape.heads * Tile::kRowBytes, tile.query_count, [&](int r) {
        const int position = tile.query_first + min(r, tile.query_count - 1) * params.query_step;
        return params.q_slots == nullptr ? position : __ldg(params.q_slots + position);
      });
  if constexpr (kRowMap == Rows::gathered) {
    commit_copies();
    wait_copies<1>();
    __syncthreads();
  }

  const float scale_log2 = params.scale * 1.4426950408889634f;
  const int unmasked = min(tile.unmasked, tile.key_count);
  const int query = first_row + (lane & 15);
  const std::uint32_t query_row =
      shared_queries + query * Tile::kRowBytes + (((lane >> 4) ^ swizzle<Tile>(query)) << 4);

  Output<Tile> o = {};
  Scores<Tile> s;
  Probabilities<Tile> p;
  Queries<Tile> q_registers;
  RowState<Tile> state;
  float shift[Tile::kRowTiles][2];
  float decay[Tile::kRowTiles][2];
#pragma unroll
  for (int m = 0; m < Tile::kRowTiles; ++m)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      state.max[m][h] = kMinusInfinity;
      state.sum[m][h] = 0;
    }

  const auto load_queries = [&] {
    if constexpr (Tile::kQueryRegisters) {
#pragma unroll
      for (int m = 0; m < Tile::kRowTiles; ++m)
#pragma unroll
        for (int d = 0; d < Tile::kHeadDim / 16; ++d)
          load_matrices(q_registers[m][d], pair_address<Tile>(query_row, d) + m * 16 * Tile::kRowBytes);
    }
  };
  const auto mask_block = [&](int visit) {
    const int first = keys.first_key(visit);
    if (first + Tile::kKeys <= unmasked) return;
    make_mask<Tile>(shape, params, tile, first_row, lane).apply(s, first, lane);
  };

  if (keys.blocks > 0) {
    if constexpr (Tile::kInterleaved == 1) {
      keys.copy_k(0);
      keys.copy_k(1);
      std::uint32_t block = keys.wait();
      keys.copy_v(0);
      load_queries();
      compute_scores<Tile>(s, q_registers, query_row, block, lane);
      mask_block(0);
      take_maxima<Tile>(state, shift, decay, s, scale_log2);
#pragma unroll
      for (int step = 0; step < Tile::kKeys / 16; ++step)
        exponentiate<Tile>(p, state, s, shift, scale_log2, step);
      for (int visit = 1; visit < keys.blocks; ++visit) {
        block = keys.wait();
        keys.copy_k(visit + 1);
        compute_scores<Tile>(s, q_registers, query_row, block, lane);
        mask_block(visit);
        block = keys.wait();
        keys.copy_v(visit);
        take_maxima<Tile>(state, shift, decay, s, scale_log2);
#pragma unroll
        for (int step = 0; step < Tile::kKeys / 16; ++step) {
          add_values<Tile>(o, p, block, step, lane);
          exponentiate<Tile>(p, state, s, shift, scale_log2, step);
        }
        rescale<Tile>(o, decay);
      }
      commit_copies();
      block = keys.wait();
#pragma unroll
      for (int step = 0; step < Tile::kKeys / 16; ++step) add_values<Tile>(o, p, block, step, lane);
    } else {
      keys.copy_k(0);
      keys.copy_v(0);
      if constexpr (Tile::kQueryRegisters) {
        wait_copies<1>();
        __syncthreads();
        load_queries();
      }
      const auto visit_block = [&](int visit, auto masked) {
        std::uint32_t block = keys.wait();
        keys.copy_k(visit + 1);
        compute_scores<Tile>(s, q_registers, query_row, block, lane);
        if constexpr (decltype(masked)::value)
          make_mask<Tile>(shape, params, tile, first_row, lane).apply(s, keys.first_key(visit), lane);
        if constexpr (Tile::kInterleaved == 0) {
          block = keys.wait();
          if constexpr (Tile::kFlags & 2) keys.copy_v(visit + 1);
        }
        take_maxima<Tile>(state, shift, decay, s, scale_log2);
        if constexpr (Tile::kFlags & 1) {
          bool any = false;
#pragma unroll
          for (int m = 0; m < Tile::kRowTiles; ++m) any = any || decay[m][0] != 1 || decay[m][1] != 1;
          if (__any_sync(0xffffffff, any)) rescale<Tile>(o, decay);
        } else {
          rescale<Tile>(o, decay);
        }
        if constexpr (Tile::kInterleaved == 0) {
#pragma unroll
          for (int step = 0; step < Tile::kKeys / 16; ++step) {
            exponentiate<Tile>(p, state, s, shift, scale_log2, step);
            add_values<Tile>(o, p, block, step, lane);
          }
          if constexpr (!(Tile::kFlags & 2)) keys.copy_v(visit + 1);
        } else {
#pragma unroll
          for (int step = 0; step < Tile::kKeys / 16; ++step)
            exponentiate<Tile>(p, state, s, shift, scale_log2, step);
          block = keys.wait();
          keys.copy_v(visit + 1);
#pragma unroll
          for (int step = 0; step < Tile::kKeys / 16; ++step) add_values<Tile>(o, p, block, step, lane);
        }
      };
      const auto is_masked = [&](int visit) { return keys.first_key(visit) + Tile::kKeys > unmasked; };
      for (int visit = 0; visit < keys.blocks;) {
        if (is_masked(visit)) {
          visit_block(visit++, std::true_type());
          continue;
        }
        do visit_block(visit++, std::false_type());
        while (visit < keys.blocks && !is_masked(visit));
      }
    }
  }
  wait_copies<0>();

  if (params.o_fp32 != 0) {
    write_rows<Tile, float>(o, state, shape, params, tile, first_row, lane);
  } else {
    write_rows<Tile, T>(o, state, shape, params, tile, first_row, lane);
  }
}

template <class T, int kHeadDim>
struct Tilings;
template <class T>
struct Tilings<T, 32> : Tiling<T, 32, 2, 4, 64, true, 0, 2> {};
template <class T>
struct Tilings<T, 64> : Tiling<T, 64, 2, 4, 64, false, 0, 2> {};
template <class T>
struct Tilings<T, 96> : Tiling<T, 96, 2, 4, 64, false, 0, 2> {};
template <class T>
struct Tilings<T, 128> : Tiling<T, 128, 2, 4, 64, false, 0, 2> {};
template <class T>
struct Tilings<T, 256> : Tiling<T, 256, 1, 4, 32, false, 0, 2> {};

template <class Tile>
class DilatedMma final : public ForwardKernel {
 public:
  explicit DilatedMma(const ForwardShape& shape) : shape_(shape) {
    allow_shared_memory(attend<Tile, Rows::strided>);
    allow_shared_memory(attend<Tile, Rows::gathered>);
  }

  void launch(const ForwardParams& params, cudaStream_t stream) override {
    if (params.tile_count == 0) return;
    const auto kernel =
        params.key_slots == nullptr ? attend<Tile, Rows::strided> : attend<Tile, Rows::gathered>;
    kernel<<<params.tile_count, Tile::kThreads, Tile::kSharedBytes, stream>>>(shape_, params);
    HILBENCH_CUDA(cudaGetLastError());
  }

 private:
  template <class Kernel>
  static void allow_shared_memory(Kernel* kernel) {
    HILBENCH_CUDA(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Tile::kSharedBytes));
  }

  ForwardShape shape_;
};

// Calls visit(Tilings<T, D>()) for the shape's element and head dimension.
template <class T, class Visit>
auto visit_head_dim(const ForwardShape& shape, Visit visit) {
  switch (shape.head_dim) {
    case 32:
      return visit(Tilings<T, 32>());
    case 64:
      return visit(Tilings<T, 64>());
    case 96:
      return visit(Tilings<T, 96>());
    case 128:
      return visit(Tilings<T, 128>());
    case 256:
      return visit(Tilings<T, 256>());
    default:
      throw std::invalid_argument("dilated_mma: head_dim must be 32, 64, 96, 128 or 256");
  }
}

template <class Visit>
auto visit_tiling(const ForwardShape& shape, Visit visit) {
  switch (shape.element) {
    case Element::bf16:
      return visit_head_dim<__nv_bfloat16>(shape, visit);
    case Element::fp16:
      return visit_head_dim<__half>(shape, visit);
    default:
      throw std::invalid_argument("dilated_mma: the element must be bf16 or fp16");
  }
}

}  // namespace

std::int32_t dilated_mma_tile_rows(const ForwardShape& shape) {
  return visit_tiling(shape, [](auto tile) -> std::int32_t { return decltype(tile)::kRows; });
}

std::unique_ptr<ForwardKernel> make_dilated_mma(const ForwardShape& shape) {
  return visit_tiling(shape, [&](auto tile) -> std::unique_ptr<ForwardKernel> {
    return std::make_unique<DilatedMma<decltype(tile)>>(shape);
  });
}

}  // namespace hilbench::cuda
