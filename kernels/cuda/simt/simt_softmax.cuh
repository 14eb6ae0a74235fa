// Online softmax on the scores of a lane, and its mask.
#pragma once

#include <climits>
#include <cmath>

#include "kernels/cuda/shared/forward.hpp"
#include "kernels/cuda/simt/simt_products.cuh"
#include "kernels/cuda/simt/simt_tiling.cuh"

namespace hilbench::cuda::simt {

// Online softmax of the lane's rows, in powers of two. The maximum is kept after rounding, so that all blocks
// are relative to the same value.
template <typename Shape>
struct SoftmaxRows {
  float top[Shape::kRowsPerLane];  // maximum of the scores so far, times log2(e)
  float sum[Shape::kRowsPerLane];  // of the weights of this lane's keys, relative to `top`

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < Shape::kRowsPerLane; ++i) top[i] = -INFINITY, sum[i] = 0;
  }

  // Adds a block: s becomes the weights, o is scaled to the new maxima. `scale2` is the scale of
  // the scores times log2(e).
  __device__ __forceinline__ void update(float scale2, float (&s)[Shape::kRowsPerLane][Shape::kKeysPerLane],
                                         float (&o)[Shape::kRowsPerLane][4 * Shape::kQuads]) {
    float factors[Shape::kRowsPerLane];
    bool changed = false;
#pragma unroll
    for (int i = 0; i < Shape::kRowsPerLane; ++i) {
      float block_top = s[i][0];
#pragma unroll
      for (int j = 1; j < Shape::kKeysPerLane; ++j) block_top = fmaxf(block_top, s[i][j]);
      block_top = across_columns(block_top, [](float a, float b) { return fmaxf(a, b); });
      const float new_top = fmaxf(top[i], block_top * scale2);
      const float origin = new_top == -INFINITY ? 0.0f : new_top;  // no key seen: weights of 0
      factors[i] = exp2_fast(top[i] - origin);
      changed |= new_top != top[i];
      top[i] = new_top;
      float block_sum = 0;
#pragma unroll
      for (int j = 0; j < Shape::kKeysPerLane; ++j) {
        s[i][j] = exp2_fast(fmaf(s[i][j], scale2, -origin));
        block_sum += s[i][j];
      }
      sum[i] = fmaf(sum[i], factors[i], block_sum);
    }
    if (!__any_sync(kAllLanes, changed)) return;
#pragma unroll
    for (int i = 0; i < Shape::kRowsPerLane; ++i)
#pragma unroll
      for (int x = 0; x < 4 * Shape::kQuads; ++x) o[i][x] *= factors[i];
  }
};

// Scores of keys that a query does not see become -infinity.
template <typename Shape>
__device__ __forceinline__ void mask_scores(const ForwardParams& params, const ForwardTile& tile,
                                            int first_key, int first_row, int column_lane,
                                            float (&s)[Shape::kRowsPerLane][Shape::kKeysPerLane]) {
#pragma unroll
  for (int j = 0; j < Shape::kKeysPerLane; ++j) {
    const int key = first_key + j * kColumnLanes + column_lane;
    int position = INT_MAX;  // past the last key: seen by no query
    if (key < tile.unmasked) {
      position = INT_MIN;
    } else if (key < tile.key_count) {
      position = params.key_positions != nullptr ? params.key_positions[tile.key_begin + key]
                                                 : tile.key_position + key * params.key_step;
    }
#pragma unroll
    for (int i = 0; i < Shape::kRowsPerLane; ++i) {
      const int query = tile.query_first + (first_row + row_offset(i)) * params.query_step;
      if (position > query) s[i][j] = -INFINITY;
    }
  }
}

}  // namespace hilbench::cuda::simt
