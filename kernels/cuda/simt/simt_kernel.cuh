// Forward attention of one branch in fp32 FFMA arithmetic, for compute capability 6.1 and up; fp16 and bf16
// are storage only. O = softmax(scale Q K^T) V and its LSE by online softmax over blocks of keys (running
// maximum and sum per query row, FlashAttention-2, arXiv 2307.08691, algorithm 1), one block per tile.
//
// A warp owns 4 * kRowsPerLane query rows. Its lanes form a grid of 4 row lanes x 8 column lanes: a lane
// holds rows (i / 4) * 16 + row lane * 4 + i % 4, the scores of keys j * 8 + column lane and the output
// columns c * 32 + column lane * 4 .. + 3. Both products are outer products in registers, fed by 16-byte
// loads from shared memory. Q and the probabilities are stored transposed, [head_dim or key][row], for two
// reasons. First, a load then brings an operand to registers of the same bank in every step, so that the sums
// can be in the other bank (an FFMA that takes two operands from one bank waits a cycle). Second, a lane can
// write its probabilities by 16-byte stores. Only the warp that owns the rows touches them. The strides avoid
// all bank conflicts.
//
// Does not handle head_dim above 256 or not a multiple of 8.
#pragma once

#include "kernels/cuda/shared/forward.hpp"
#include "kernels/cuda/simt/simt_dropout.cuh"
#include "kernels/cuda/simt/simt_load.cuh"
#include "kernels/cuda/simt/simt_products.cuh"
#include "kernels/cuda/simt/simt_softmax.cuh"
#include "kernels/cuda/simt/simt_store.cuh"
#include "kernels/cuda/simt/simt_tiling.cuh"

namespace hilbench::cuda {
namespace simt {

// The weights that dropout keeps, scaled; the others become zeros.
template <typename Shape>
__device__ __forceinline__ void drop_weights(const ForwardParams& params, const ForwardShape& shape,
                                             const ForwardTile& tile, int warp_row, int first_key, int lane,
                                             float (&s)[Shape::kRowsPerLane][Shape::kKeysPerLane]) {
  const BranchDropout& of = params.dropout;
  visit_kept<Rows::queries, Shape>(
      of.dropout, of.stream(tile.query_first, tile.batch, shape.heads, tile.head),
      of.query_number(tile.query_first, params.query_step) + warp_row, first_key, row_lane_of(lane),
      column_lane_of(lane),
      [&](int i, int j, bool kept) { s[i][j] = kept ? s[i][j] * of.dropout.scale : 0; });
}

template <Dtype kDtype, typename Shape>
__device__ __forceinline__ void compute_tile(const ForwardParams& params, const ForwardShape& shape,
                                             const ForwardTile& tile) {
  extern __shared__ float4 shared[];
  float* const q_rows = reinterpret_cast<float*>(shared);
  float* const k_rows = q_rows + Shape::kRows * Shape::kHeadDim;
  float* const v_rows = Shape::kTwoBuffers ? k_rows + Shape::kKeys * Shape::kRowStride : k_rows;
  float* const weight_rows = v_rows + Shape::kKeys * Shape::kRowStride;

  const int lane = threadIdx.x % kWarpLanes, warp = threadIdx.x / kWarpLanes;
  const int row_lane = row_lane_of(lane), column_lane = column_lane_of(lane);
  const int warp_row = warp * Shape::kWarpRows;
  const int first_row = warp_row + row_lane * 4;
  const bool warp_works = warp_row < tile.query_count;
  float* const q_warp = q_rows + warp_row * Shape::kHeadDim;
  float* const weights_warp = weight_rows + warp * Shape::kKeys * Shape::kWeightStride;
  const float* const k_lane = k_rows + column_lane * Shape::kRowStride;
  const float* const v_lane = v_rows + column_lane * 4;
  // If keys are visited by position, a block that begins past the warp's last query is skipped.
  const int last_query = tile.query_first + (warp_row + Shape::kWarpRows - 1) * params.query_step;

  float s[Shape::kRowsPerLane][Shape::kKeysPerLane];
  float o[Shape::kRowsPerLane][4 * Shape::kQuads];
#pragma unroll
  for (int i = 0; i < Shape::kRowsPerLane; ++i)
#pragma unroll
    for (int x = 0; x < 4 * Shape::kQuads; ++x) o[i][x] = 0;
  SoftmaxRows<Shape> softmax;
  softmax.clear();

  const HeadRows keys = key_rows<kDtype>(params.k, params, shape, tile);
  const HeadRows values = key_rows<kDtype>(params.v, params, shape, tile);
  const int blocks = (tile.key_count + Shape::kKeys - 1) / Shape::kKeys;
  BlockMover<kDtype, Shape> mover;
  if (blocks > 0) {
    mover.fetch(keys, shape.head_dim, tile.keys_backwards != 0 ? (blocks - 1) * Shape::kKeys : 0, k_rows);
    load_queries<kDtype, Shape>(params, shape, tile, warp_row, lane, q_warp);
    mover.deposit(k_rows);
  }
  for (int visit = 0; visit < blocks; ++visit) {
    const int first_key = (tile.keys_backwards != 0 ? blocks - 1 - visit : visit) * Shape::kKeys;
    const bool works = warp_works && (first_key < tile.unmasked || params.key_positions != nullptr ||
                                      tile.key_position + first_key * params.key_step <= last_query);
    __syncthreads();  // the block's keys are there; nobody reads the values before any more
    mover.fetch(values, shape.head_dim, first_key, v_rows);
    if (works) {
      multiply_keys<Shape>(q_warp + row_lane * 4, k_lane, s);
      if (first_key + Shape::kKeys > tile.unmasked)
        mask_scores<Shape>(params, tile, first_key, first_row, column_lane, s);
      softmax.update(params.scale * kLog2E, s, o);
      if (drops(params.dropout.dropout))
        drop_weights<Shape>(params, shape, tile, warp_row, first_key, lane, s);
      hand_over<Shape>(s, weights_warp + column_lane * Shape::kWeightStride + row_lane * 4);
    }
    if constexpr (!Shape::kTwoBuffers) __syncthreads();  // nobody reads the keys any more
    mover.deposit(v_rows);
    __syncthreads();  // values and weights are there; nobody reads the keys any more
    const bool another = visit + 1 < blocks;
    const int next_key = first_key + (tile.keys_backwards != 0 ? -Shape::kKeys : Shape::kKeys);
    if (another) mover.fetch(keys, shape.head_dim, next_key, k_rows);
    if (works) multiply_values<Shape>(weights_warp + row_lane * 4, v_lane, o);
    if constexpr (!Shape::kTwoBuffers) __syncthreads();  // nobody reads the values any more
    if (another) mover.deposit(k_rows);
  }
  if (warp_works) write_rows<kDtype, Shape>(params, shape, tile, first_row, column_lane, softmax, o);
}

}  // namespace simt

// One tile per block, in the sequence of the tile list.
template <Dtype kDtype, typename Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksPerSm)
    dilated_simt(const ForwardParams params, const ForwardShape shape) {
#ifdef __CUDA_ARCH__
  if constexpr (Shape::kSharedBytes <= simt::most_shared_bytes(__CUDA_ARCH__))
    simt::compute_tile<kDtype, Shape>(params, shape, params.tiles[blockIdx.x]);
#endif
}

}  // namespace hilbench::cuda
