// Backward attention of one branch in fp32 FFMA arithmetic, for compute capability 6.1 and up; fp16 and bf16
// are storage only (docs/definitions.md, "Backward"; FlashAttention-2, arXiv 2307.08691, algorithm 2). Two
// kernels, each of which computes S and dP anew: query_gradients() has a tile of queries in its rows and keys
// in its columns, key_gradients() a tile of keys in its rows and, in its columns, the queries that see it. A
// row is written by one block. Or one kernel, in fp32 where shapes have turns (simt_gradient_shapes.hpp):
// blocks of keys add their part of dQ, in turn, so that the sums have one sequence.
//
// A block has pairs of warps. The two warps of a pair have the same rows: the first computes S and P, the
// second dP and dS, at the same time. Then each computes a gradient of keys, or half the columns of dQ. So
// the sums of long rows fit into registers, and both warps do the same work. Lanes, arrays and strides are as
// in simt_kernel.cuh.
//
// Does not handle head_dim above 256 or not a multiple of 8.
#pragma once

#include <climits>

#include "kernels/cuda/simt/simt_dropout.cuh"
#include "kernels/cuda/simt/simt_gradient_load.cuh"
#include "kernels/cuda/simt/simt_gradient_turns.cuh"
#include "kernels/cuda/simt/simt_gradient_warps.cuh"

namespace hilbench::cuda {
namespace simt {

template <typename Shape>
__device__ __forceinline__ void clear(float (&sums)[Shape::kRowsPerLane][4 * Shape::kQuads]) {
#pragma unroll
  for (int i = 0; i < Shape::kRowsPerLane; ++i)
#pragma unroll
    for (int x = 0; x < 4 * Shape::kQuads; ++x) sums[i][x] = 0;
}

// dS of a pair from P, dP and D. With dropout P is negative where the pair is dropped.
__device__ __forceinline__ float change_of_score(float p, float d_p, float delta, float scale) {
  return fabsf(p) * ((p < 0 ? 0.0f : d_p * scale) - delta);
}

// Half the columns of a row.
template <typename Shape>
struct HalfRows : Shape {
  static constexpr int kQuads = Shape::kQuads / 2;
};

template <typename Shape>
__device__ __forceinline__ void compute_query_tile(const GradientParams& params, const ForwardShape& shape,
                                                   const ForwardTile& tile) {
  using Half = HalfRows<Shape>;
  const PairOfWarps<Shape> warps;
  const Dtype dtype = shape.dtype;
  const auto queries = [&](const void* tensor, Dtype of) {
    return query_rows(tensor, of, params, shape, tile.batch, tile.head, tile.query_first, tile.query_count);
  };
  const GradientRows keys = key_rows(params.k, dtype, params, shape, tile);
  const GradientRows values = key_rows(params.v, dtype, params, shape, tile);
  const bool pair_works = warps.warp_row < tile.query_count;
  // If keys are visited by position, a block that begins past the pair's last query is skipped.
  const int last_query = tile.query_first + (warps.warp_row + Shape::kWarpRows - 1) * params.query_step;

  float of_row[Shape::kRowsPerLane];  // LSE in the first warp, D in the second
#pragma unroll
  for (int i = 0; i < Shape::kRowsPerLane; ++i) {
    const int row = warps.first_row + row_offset(i);
    const int position = tile.query_first + min(row, tile.query_count - 1) * params.query_step;
    const RowStatistics statistics =
        params.statistics[(static_cast<long long>(tile.batch) * shape.sequence + position) * shape.heads +
                          tile.head];
    of_row[i] = warps.second ? statistics.delta : statistics.lse2;
  }

  const Dropout& dropout = params.dropout.dropout;
  const DropoutStream stream = params.dropout.stream(tile.query_first, tile.batch, shape.heads, tile.head);
  const int first_number = params.dropout.query_number(tile.query_first, params.query_step) + warps.warp_row;
  float sums[Shape::kRowsPerLane][4 * Half::kQuads];
  clear<Half>(sums);
  GradientMover<Shape> key_mover, value_mover;
  const int blocks = (tile.key_count + Shape::kKeys - 1) / Shape::kKeys;
  const auto first_key_of = [&](int visit) {
    return (tile.keys_backwards != 0 ? blocks - 1 - visit : visit) * Shape::kKeys;
  };
  const auto fetch = [&](int visit) {
    key_mover.fetch(keys, dtype, shape.head_dim, first_key_of(visit));
    value_mover.fetch(values, dtype, shape.head_dim, first_key_of(visit));
  };
  if (Shape::kPrefetches && blocks > 0) fetch(0);
  load_transposed<Shape>(queries(warps.second ? params.d_o : params.q, dtype), dtype, shape.head_dim,
                         warps.warp_row, warps.lane, warps.rows);
  for (int visit = 0; visit < blocks; ++visit) {
    const int first_key = first_key_of(visit);
    if (!Shape::kPrefetches) fetch(visit);
    key_mover.deposit(dtype, warps.first_columns);
    value_mover.deposit(dtype, warps.second_columns);
    __syncthreads();
    if (Shape::kPrefetches && visit + 1 < blocks) fetch(visit + 1);
    const bool works = pair_works && (first_key < tile.unmasked || params.key_positions != nullptr ||
                                      tile.key_position + first_key * params.key_step <= last_query);
    if (works) {
      float s[Shape::kRowsPerLane][Shape::kKeysPerLane];
      warps.multiply_rows(s);
      if (!warps.second) {
#pragma unroll
        for (int j = 0; j < Shape::kKeysPerLane; ++j) {
          const int key = first_key + j * kColumnLanes + warps.column_lane;
          int position = INT_MAX;  // past the last key: seen by no query
          if (key < tile.unmasked) {
            position = INT_MIN;
          } else if (key < tile.key_count) {
            position = params.key_positions != nullptr ? params.key_positions[tile.key_begin + key]
                                                       : tile.key_position + key * params.key_step;
          }
#pragma unroll
          for (int i = 0; i < Shape::kRowsPerLane; ++i) {
            const int query = tile.query_first + (warps.first_row + row_offset(i)) * params.query_step;
            const float p = exp2_fast(fmaf(s[i][j], params.scale * kLog2E, -of_row[i]));
            s[i][j] = position > query ? 0.0f : p;
          }
        }
        if (drops(dropout))
          visit_kept<Rows::queries, Shape>(
              dropout, stream, first_number, first_key, warps.row_lane, warps.column_lane,
              [&](int i, int j, bool kept) { s[i][j] = kept ? s[i][j] : -s[i][j]; });
        hand_over<Shape>(s, warps.own(warps.weights));
      }
      warps.meet();
      if (warps.second) {
#pragma unroll
        for (int j = 0; j < Shape::kKeysPerLane; ++j) {
          float p[Shape::kRowsPerLane];
          warps.read_weights(warps.weights, j, p);
#pragma unroll
          for (int i = 0; i < Shape::kRowsPerLane; ++i)
            s[i][j] = change_of_score(p[i], s[i][j], of_row[i], dropout.scale);
        }
        hand_over<Shape>(s, warps.own(warps.changes));
      }
      warps.meet();
      multiply_values<Half>(
          warps.changes + warps.row_lane * 4,
          warps.first_columns + warps.column_lane * 4 + (warps.second ? Shape::kHeadDim / 2 : 0), sums);
    } else {
      warps.meet(), warps.meet();
    }
    __syncthreads();  // nobody reads the columns any more
  }
  const Dtype stored = params.gradients_fp32 != 0 ? Dtype::fp32 : dtype;
  if (pair_works)
    write_gradients<Half>(queries(params.d_q, stored), stored, shape.head_dim, params.adds != 0,
                          warps.first_row, warps.column_lane * 4 + (warps.second ? Shape::kHeadDim / 2 : 0),
                          params.scale, sums);
}

// The blocks of queries of a tile's runs, the last of a run first: under a causal mask all tiles of a list
// begin there. Blocks begin at multiples of their queries, where patches of dropout begin too.
struct QueryBlocks {
  const QueryRun* runs;
  int count, step, first_position;
  int number = -1;  // of the run
  QueryRun run;
  int first = 0;  // the query of the run at which this block begins
  int least = 0;  // that at which the last block of the run begins that this tile visits

  // Goes to the next block of `queries`; false after the last.
  __device__ __forceinline__ bool advance(int queries) {
    if (number >= 0) first -= queries;
    while (number < 0 || first < least) {
      if (++number >= count) return false;
      run = runs[number];
      const int before = first_position - run.first;  // queries before it see nothing
      least = before > 0 ? (before + step - 1) / step / queries * queries : 0;
      first = (run.count - 1) / queries * queries;
    }
    return true;
  }
};

template <typename Shape>
__device__ __forceinline__ void compute_key_tile(const GradientParams& params, const ForwardShape& shape,
                                                 const KeyTile& tile) {
  const PairOfWarps<Shape> warps;
  const Dtype dtype = Shape::kInTurn ? Dtype::fp32 : shape.dtype;
  const bool pair_works = warps.warp_row < tile.key_count;
  // Queries before it see none of a pair's keys.
  const auto position_of = [&](int pair) {
    return shape.causal && params.key_positions == nullptr
               ? tile.key_position + pair * Shape::kWarpRows * params.key_step
               : tile.first_position;
  };
  const int pair_position = position_of(warps.pair);
  static_assert(Shape::kKeys % 16 == 0, "patches of dropout");
  Turns turns(Shape::kInTurn ? params.turns + 1 : nullptr, tile.turn);
  const Dropout& dropout = params.dropout.dropout;
  float sums[Shape::kRowsPerLane][4 * Shape::kQuads];  // of dV in the first warp, of dK in the second
  clear<Shape>(sums);
  GradientMover<Shape> query_mover, d_o_mover;
  RowStatistics held = {};
  QueryBlocks blocks{params.runs + tile.run_begin, tile.run_count, params.query_step, tile.first_position};
  const auto fetch = [&] {
    const QueryRun& run = blocks.run;
    const auto rows = [&](const void* tensor) {
      return query_rows(tensor, dtype, params, shape, run.batch, run.head, run.first, run.count);
    };
    query_mover.fetch(rows(params.q), dtype, shape.head_dim, blocks.first);
    d_o_mover.fetch(rows(params.d_o), dtype, shape.head_dim, blocks.first);
    const int query = blocks.first + static_cast<int>(threadIdx.x);
    held = {INFINITY, 0};
    if (threadIdx.x < Shape::kKeys && query < run.count)
      held = params.statistics[(static_cast<long long>(run.batch) * shape.sequence + run.first +
                                static_cast<long long>(query) * params.query_step) *
                                   shape.heads +
                               run.head];
  };
  bool more = blocks.advance(Shape::kKeys);
  if (Shape::kPrefetches && more) fetch();
  load_transposed<Shape>(key_rows(warps.second ? params.v : params.k, dtype, params, shape, tile), dtype,
                         shape.head_dim, warps.warp_row, warps.lane, warps.rows);
  while (more) {
    if (!Shape::kPrefetches) fetch();
    query_mover.deposit(dtype, warps.first_columns);
    d_o_mover.deposit(dtype, warps.second_columns);
    if (threadIdx.x < Shape::kKeys)
      warps.lse2[threadIdx.x] = held.lse2, warps.delta[threadIdx.x] = held.delta;
    const QueryRun run = blocks.run;
    const int first = blocks.first, turn_block = (tile.run_begin + blocks.number) * params.turn_blocks;
    const int first_query = run.first + first * params.query_step;
    const DropoutStream stream = params.dropout.stream(run.first, run.batch, shape.heads, run.head);
    const int first_number = params.dropout.query_number(run.first, params.query_step) + first;
    __syncthreads();
    if (Shape::kInTurn && threadIdx.x == 0) turns.pass_on();
    more = blocks.advance(Shape::kKeys);
    if (Shape::kPrefetches && more) fetch();
    const int last_query = first_query + (Shape::kKeys - 1) * params.query_step;
    if (pair_works && last_query >= pair_position) {
      float s[Shape::kRowsPerLane][Shape::kKeysPerLane];
      warps.multiply_rows(s);
      if (!warps.second) {
#pragma unroll
        for (int j = 0; j < Shape::kKeysPerLane; ++j) {
          const float lse2 = warps.lse2[j * kColumnLanes + warps.column_lane];
#pragma unroll
          for (int i = 0; i < Shape::kRowsPerLane; ++i)
            s[i][j] = exp2_fast(fmaf(s[i][j], params.scale * kLog2E, -lse2));
        }
        if (first_query < tile.last_position) {
#pragma unroll
          for (int i = 0; i < Shape::kRowsPerLane; ++i) {
            const int key = min(warps.first_row + row_offset(i), tile.key_count - 1);
            const int position = params.key_positions != nullptr ? params.key_positions[tile.key_begin + key]
                                                                 : tile.key_position + key * params.key_step;
#pragma unroll
            for (int j = 0; j < Shape::kKeysPerLane; ++j)
              if (position > first_query + (j * kColumnLanes + warps.column_lane) * params.query_step)
                s[i][j] = 0;
          }
        }
        if (Shape::kInTurn && warps.warp_row + Shape::kWarpRows > tile.key_count) {  // dQ sums over the keys
#pragma unroll
          for (int i = 0; i < Shape::kRowsPerLane; ++i)
#pragma unroll
            for (int j = 0; j < Shape::kKeysPerLane; ++j)
              if (warps.first_row + row_offset(i) >= tile.key_count) s[i][j] = 0;
        }
        if (drops(dropout)) {  // the second warp needs P of all pairs, the product of dV those kept
          visit_kept<Rows::keys, Shape>(
              dropout, stream, tile.key_number + warps.warp_row, first_number, warps.row_lane,
              warps.column_lane, [&](int i, int j, bool kept) { s[i][j] = kept ? s[i][j] : -s[i][j]; });
          hand_over<Shape>(s, warps.own(warps.changes));
#pragma unroll
          for (int j = 0; j < Shape::kKeysPerLane; ++j)
#pragma unroll
            for (int i = 0; i < Shape::kRowsPerLane; ++i) s[i][j] = fmaxf(s[i][j], 0) * dropout.scale;
        }
        hand_over<Shape>(s, warps.own(warps.weights));
      }
      warps.meet();
      if (warps.second) {
        const float* const given = drops(dropout) ? warps.changes : warps.weights;
#pragma unroll
        for (int j = 0; j < Shape::kKeysPerLane; ++j) {
          const float delta = warps.delta[j * kColumnLanes + warps.column_lane];
          float p[Shape::kRowsPerLane];
          warps.read_weights(given, j, p);
#pragma unroll
          for (int i = 0; i < Shape::kRowsPerLane; ++i)
            s[i][j] = change_of_score(p[i], s[i][j], delta, dropout.scale);
        }
        hand_over<Shape>(s, warps.own(warps.changes));
        __syncwarp();
      }
      multiply_values<Shape>(
          (warps.second ? warps.changes : warps.weights) + warps.row_lane * 4,
          (warps.second ? warps.first_columns : warps.second_columns) + warps.column_lane * 4, sums);
    } else {
      warps.meet();
    }
    if constexpr (Shape::kInTurn) {
      __syncthreads();  // dS is there, and nobody reads P any more
      const auto works = [&](int pair) {
        return pair * Shape::kWarpRows < tile.key_count && last_query >= position_of(pair);
      };
      add_in_turn<Shape>(
          warps, works,
          query_rows(params.d_q, Dtype::fp32, params, shape, run.batch, run.head, run.first, run.count),
          first, shape.head_dim, params.scale, turns, turn_block + first / Shape::kKeys);
    }
    __syncthreads();  // nobody reads the columns, or shares of dQ, any more, and all have added
  }
  if (Shape::kInTurn && threadIdx.x == 0) turns.pass_on();
  const Dtype stored = params.gradients_fp32 != 0 ? Dtype::fp32 : dtype;
  if (pair_works)
    write_gradients<Shape>(key_rows(warps.second ? params.d_k : params.d_v, stored, params, shape, tile),
                           stored, shape.head_dim, params.adds != 0, warps.first_row, warps.column_lane * 4,
                           warps.second ? params.scale : 1.0f, sums);
}

}  // namespace simt

// One tile per block, in the sequence of the tile list.
template <typename Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksPerSm)
    query_gradients(const GradientParams params, const ForwardShape shape) {
#ifdef __CUDA_ARCH__
  if constexpr (Shape::kSharedBytes <= simt::most_shared_bytes(__CUDA_ARCH__))
    simt::compute_query_tile<Shape>(params, shape, params.tiles[blockIdx.x]);
#endif
}

template <typename Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksPerSm)
    key_gradients(const GradientParams params, const ForwardShape shape) {
#ifdef __CUDA_ARCH__
  if constexpr (Shape::kSharedBytes <= simt::most_shared_bytes(__CUDA_ARCH__))
    simt::compute_key_tile<Shape>(params, shape, params.key_tiles[blockIdx.x]);
#endif
}

// All three gradients. Blocks take tiles as they begin: whoever waits for a turn waits for a block that runs.
template <typename Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksPerSm)
    gradients_in_turn(const GradientParams params, const ForwardShape shape) {
#ifdef __CUDA_ARCH__
  if constexpr (simt::InTurn<Shape>::kSharedBytes + 4 <= simt::most_shared_bytes(__CUDA_ARCH__)) {
    __shared__ int number;
    if (threadIdx.x == 0) number = atomicAdd(params.turns, 1);
    __syncthreads();
    simt::compute_key_tile<simt::InTurn<Shape>>(params, shape, params.key_tiles[number]);
  }
#endif
}

}  // namespace hilbench::cuda
