// Attention of one branch on the matrix units of compute capability 8.0 and up, for bf16 and fp16.
//
// One block of threads computes one ForwardTile: S = Q K^T, P = exp(scale S - m), O = P V / l over blocks of
// keys with the running maximum m and sum l of every row kept in registers (online softmax; FlashAttention-2,
// arXiv 2307.08691, Algorithm 1). A warp owns 16 or 32 rows of Q; K and V are in shared memory, in a ring of
// blocks that cp.async fills; their 16-byte chunks are swizzled so that ldmatrix has no bank conflicts. P V
// follows the exponentials 16 keys at a time, so that both can run at once.
//
// Does not handle fp32 and head dimensions other than those of mma_instance.cuh.
#pragma once

#include <type_traits>

#include "kernels/cuda/mma/mma.cuh"
#include "kernels/cuda/mma/mma_keys.cuh"
#include "kernels/cuda/mma/mma_softmax.cuh"
#include "kernels/cuda/mma/mma_store.cuh"
#include "kernels/cuda/mma/mma_tiling.cuh"
#include "kernels/cuda/mma/mma_windows.cuh"
#include "kernels/cuda/shared/window_kernel.hpp"

namespace hilbench::cuda {

// The mask of a thread's rows.
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
    dilated_mma(const ForwardShape shape, const ParamsOf<kRowMap> params) {
  using T = typename Tile::Element;
  extern __shared__ __align__(1024) unsigned char shared[];
  // By reference: fields that are needed after the loop are read again there and take no registers inside it.
  const ForwardTile& tile = params.tiles[blockIdx.x];
  const int lane = threadIdx.x & 31;
  const int first_row = threadIdx.x / 32 * 16 * Tile::kRowTiles;
  const std::uint32_t shared_queries = shared_address(shared);

  KeyStream<Tile, kRowMap> keys;
  const std::int64_t head_offset =
      (tile.batch * static_cast<std::int64_t>(params.kv_rows) * shape.kv_heads + tile.kv_head) *
      Tile::kRowBytes;
  keys.k = static_cast<const char*>(params.k) + head_offset;
  keys.v = static_cast<const char*>(params.v) + head_offset;
  keys.slot_bytes = shape.kv_heads * Tile::kRowBytes;
  keys.slots = params.key_slots + (kRowMap != Rows::strided ? tile.key_begin : 0);
  keys.slot = tile.key_slot;
  keys.slot_step = params.key_slot_step;
  keys.count = tile.key_count;
  keys.blocks = (tile.key_count + Tile::kKeys - 1) / Tile::kKeys;
  keys.backwards = tile.keys_backwards != 0;
  keys.shared_ring = shared_queries + Tile::kQueryBytes;
  keys.shared_slots = keys.shared_ring + Tile::kRing * Tile::kBlockBytes;
  keys.next = 0;
  keys.used = 0;

  if constexpr (kRowMap != Rows::strided) {
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
  if constexpr (kRowMap != Rows::strided) {
    commit_copies();
    wait_copies<1>();
    __syncthreads();
  }

  constexpr float kLog2E = 1.4426950408889634f;
  const float scale_log2 = params.scale * kLog2E;
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

  WindowMasks<Tile> windows;
  if constexpr (kRowMap == Rows::windows) windows.start(params.windows, tile);

  const auto visit_block = [&](int visit, auto masked) {
    std::uint32_t block = keys.wait();
    if constexpr (kRowMap == Rows::windows)
      windows.fetch(keys.first_key(visit), visit + 1 < keys.blocks ? keys.first_key(visit + 1) : -1);
    keys.copy_k(visit + 1);
#pragma unroll
    for (int step = 0; step < Tile::kHeadDim / 16; ++step)
      add_scores<Tile>(s, q_registers, query_row, block, step, lane);
    if constexpr (kRowMap == Rows::windows)
      windows.apply(s);
    else if constexpr (decltype(masked)::value)
      make_mask<Tile>(shape, params, tile, first_row, lane).apply(s, keys.first_key(visit), lane);
    block = keys.wait();
    take_maxima<Tile>(state, shift, decay, s, scale_log2);
    rescale<Tile>(o, decay);
#pragma unroll
    for (int step = 0; step < Tile::kKeys / 16; ++step) {
      exponentiate<Tile>(p, state, s, shift, scale_log2, step);
      add_values<Tile>(o, p, block, step, lane);
    }
    keys.copy_v(visit + 1);
  };
  const auto is_masked = [&](int visit) { return keys.first_key(visit) + Tile::kKeys > unmasked; };

  keys.copy_k(0);
  keys.copy_v(0);
  if constexpr (Tile::kQueryRegisters) {
    wait_copies<1>();
    __syncthreads();
    load_queries<Tile>(q_registers, query_row);
  }
  if constexpr (kRowMap == Rows::windows) {
    for (int visit = 0; visit < keys.blocks; ++visit) visit_block(visit, std::true_type());
  } else {
    for (int visit = 0; visit < keys.blocks;) {
      if (is_masked(visit)) {
        visit_block(visit++, std::true_type());
        continue;
      }
      do visit_block(visit++, std::false_type());
      while (visit < keys.blocks && !is_masked(visit));
    }
  }
  wait_copies<0>();

  if (params.o_fp32 != 0) {
    write_rows<Tile, kRowMap, float>(o, state, shape, params, tile, first_row, lane);
  } else {
    write_rows<Tile, kRowMap, T>(o, state, shape, params, tile, first_row, lane);
  }
}

}  // namespace hilbench::cuda
