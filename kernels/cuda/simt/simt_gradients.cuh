// Backward attention of one branch in fp32 FFMA arithmetic, for compute capability 6.1 and up; fp16 and bf16
// are storage only (docs/definitions.md, "Backward"; FlashAttention-2, arXiv 2307.08691, algorithm 2). Two
// kernels, each of which computes S and dP anew: query_gradients() has a tile of queries in its rows and keys
// in its columns, key_gradients() a tile of keys in its rows and, in its columns, the queries that see it. A
// row is written by one block, without atomics.
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
#include "kernels/cuda/simt/simt_gradient_shapes.hpp"
#include "kernels/cuda/simt/simt_products.cuh"

namespace hilbench::cuda {
namespace simt {

// The arrays of a block, and what a warp uses of them.
template <typename Shape>
struct PairOfWarps {
  int lane, row_lane, column_lane;
  int pair;
  bool second;            // of the pair's warps
  int warp_row;           // first row of the pair
  int first_row;          // of the lane
  float* rows;            // of this warp's tensor, transposed
  float* first_columns;   // [kKeys][kRowStride]: K or Q
  float* second_columns;  // V or dO
  float* weights;         // of the pair: P, transposed
  float* changes;         // of the pair: dS, transposed
  float* lse2;            // [kKeys], of queries in columns
  float* delta;

  __device__ __forceinline__ PairOfWarps() {
    extern __shared__ float4 shared[];
    lane = threadIdx.x % kWarpLanes;
    row_lane = row_lane_of(lane), column_lane = column_lane_of(lane);
    const int warp = threadIdx.x / kWarpLanes;
    pair = warp / 2, second = warp % 2 != 0;
    warp_row = pair * Shape::kWarpRows;
    first_row = warp_row + row_lane * 4;
    float* at = reinterpret_cast<float*>(shared);
    rows = at + ((second ? Shape::kRows : 0) + warp_row) * Shape::kHeadDim;
    at += 2 * Shape::kRows * Shape::kHeadDim;
    first_columns = at, at += Shape::kKeys * Shape::kRowStride;
    second_columns = at, at += Shape::kKeys * Shape::kRowStride;
    weights = at + 2 * pair * Shape::kWeights, changes = weights + Shape::kWeights;
    at += 2 * Shape::kPairs * Shape::kWeights;
    lse2 = at, delta = at + Shape::kKeys;
  }

  // Both warps of the pair have come here, and see what the other has written.
  __device__ __forceinline__ void meet() const {
    asm volatile("bar.sync %0, 64;" ::"r"(pair + 1) : "memory");
  }
  // S in the first warp, dP in the second.
  __device__ __forceinline__ void multiply_rows(float (&s)[Shape::kRowsPerLane][Shape::kKeysPerLane]) const {
    multiply_keys<Shape>(rows + row_lane * 4,
                         (second ? second_columns : first_columns) + column_lane * Shape::kRowStride, s);
  }
  template <class Float>
  __device__ __forceinline__ Float* own(Float* transposed) const {
    return transposed + column_lane * Shape::kWeightStride + row_lane * 4;
  }
  // P of the lane's rows and its column j, from where the first warp has left it.
  __device__ __forceinline__ void read_weights(const float* given, int j,
                                               float (&p)[Shape::kRowsPerLane]) const {
    read_rows(own(given) + j * kColumnLanes * Shape::kWeightStride, p);
  }
};

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
    }
    __syncthreads();  // nobody reads the columns any more
  }
  const Dtype stored = params.gradients_fp32 != 0 ? Dtype::fp32 : dtype;
  if (pair_works)
    write_gradients<Half>(queries(params.d_q, stored), stored, shape.head_dim, params.adds != 0,
                          warps.first_row, warps.column_lane * 4 + (warps.second ? Shape::kHeadDim / 2 : 0),
                          params.scale, sums);
}

// The blocks of queries of a tile's runs, in their sequence.
struct QueryBlocks {
  const QueryRun* runs;
  int count, step, first_position;
  int number = -1;  // of the run
  QueryRun run;
  int next = 0;  // query of the run at which the next block begins

  // Goes to the next block; false after the last.
  __device__ __forceinline__ bool advance(int keys) {
    if (number >= 0) next += keys;
    while (number < 0 || next >= run.count) {
      if (++number >= count) return false;
      run = runs[number];
      const int before = first_position - run.first;                 // queries before it see nothing
      next = before > 0 ? (before + step - 1) / step / 16 * 16 : 0;  // where a patch of dropout begins
    }
    return true;
  }
};

template <typename Shape>
__device__ __forceinline__ void compute_key_tile(const GradientParams& params, const ForwardShape& shape,
                                                 const KeyTile& tile) {
  const PairOfWarps<Shape> warps;
  const Dtype dtype = shape.dtype;
  const bool pair_works = warps.warp_row < tile.key_count;
  // Queries before it see none of the pair's keys.
  const int pair_position = shape.causal && params.key_positions == nullptr
                                ? tile.key_position + warps.warp_row * params.key_step
                                : tile.first_position;
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
    query_mover.fetch(rows(params.q), dtype, shape.head_dim, blocks.next);
    d_o_mover.fetch(rows(params.d_o), dtype, shape.head_dim, blocks.next);
    const int query = blocks.next + static_cast<int>(threadIdx.x);
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
    const int first_query = blocks.run.first + blocks.next * params.query_step;
    const DropoutStream stream =
        params.dropout.stream(blocks.run.first, blocks.run.batch, shape.heads, blocks.run.head);
    const int first_number = params.dropout.query_number(blocks.run.first, params.query_step) + blocks.next;
    __syncthreads();
    more = blocks.advance(Shape::kKeys);
    if (Shape::kPrefetches && more) fetch();
    if (pair_works && first_query + (Shape::kKeys - 1) * params.query_step >= pair_position) {
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
    }
    __syncthreads();  // nobody reads the columns any more
  }
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

}  // namespace hilbench::cuda
