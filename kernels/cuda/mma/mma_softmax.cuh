// Online softmax on the scores of a warp: masks, running maxima and sums, exponentials.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/cuda/mma/mma.cuh"
#include "kernels/cuda/mma/mma_tiling.cuh"

namespace hilbench::cuda {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
constexpr std::int32_t kLastLabel = std::numeric_limits<std::int32_t>::max();

// Running softmax of the rows of a thread: rows 8 h + lane / 4 of tile m are [m][h].
template <class Tile>
struct RowState {
  float max[Tile::kRowTiles][2];  // of raw scores
  float sum[Tile::kRowTiles][2];  // of this thread's columns
};

// The keys that a row sees: those whose label is below the row's limit. The label of a key is its number in
// the tile or, if there is a table of positions, its position.
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

// Updates the state with the maxima of a block. `shift` becomes the new maximum times scale_log2, or 0 if no
// key was seen yet; `decay` becomes the factor for the sums so far.
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
      shift[m][h] = max == kMinusInfinity ? 0 : __fmul_rn(max, scale_log2);
      // Rounded as `shift` is: a fused product would scale the sums in each block without a new maximum.
      decay[m][h] = exp2_fast(__fmul_rn(state.max[m][h], scale_log2) - shift[m][h]);
      state.max[m][h] = max;
      state.sum[m][h] *= decay[m][h];
    }
}

// P of the keys 16 * step .. 16 * step + 15: exponentials, their sums, and the rounding to 16 bits.
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

}  // namespace hilbench::cuda
