// dQ in the kernel whose blocks of keys add to it: the product dS K, and the turns in which blocks add
// (simt_gradients.cuh).
#pragma once

#include <cuda/atomic>

#include "kernels/cuda/simt/simt_gradient_load.cuh"
#include "kernels/cuda/simt/simt_gradient_warps.cuh"

namespace hilbench::cuda::simt {

// Where tiles of keys take turns to add to a block of dQ. A tile waits for those of its list before it, which
// have begun before it. One thread of a block calls these.
class Turns {
 public:
  using Count = ::cuda::atomic_ref<std::int32_t, ::cuda::thread_scope_device>;
  __device__ __forceinline__ Turns(std::int32_t* counts, int turn) : counts_(counts), turn_(turn) {}
  // Looks early whether the turn has come, so that wait() need not.
  __device__ __forceinline__ void begin(int block) {
    now_ = counts_ + block;
    come_ = Count(*now_).load(::cuda::memory_order_acquire) == turn_;
  }
  // Until the tiles before this one have added.
  __device__ __forceinline__ void wait() {
    while (!come_) come_ = Count(*now_).load(::cuda::memory_order_acquire) == turn_;
  }
  // Once all threads of the block have added and met.
  __device__ __forceinline__ void pass_on() {
    if (now_ == nullptr) return;
    Count(*now_).store(turn_ + 1, ::cuda::memory_order_release);
    now_ = nullptr;
  }

 private:
  std::int32_t* counts_;
  std::int32_t* now_ = nullptr;
  int turn_;
  bool come_ = false;
};

// dS of 32 queries, times 32 columns of the pair's rows of K.
template <typename Shape>
__device__ __forceinline__ void multiply_changes(const float* changes, const float* keys,
                                                 float (&sums)[kSumRows][kSumColumns]) {
#pragma unroll 2
  for (int key = 0; key < Shape::kWarpRows; key += 4) {
    float a[kSumRows][4], b[kSumColumns][4];
#pragma unroll
    for (int x = 0; x < kSumColumns; ++x) read_quad(keys + x * kColumnLanes * Shape::kRowPitch + key, b[x]);
#pragma unroll
    for (int i = 0; i < kSumRows; ++i) read_quad(changes + i * kRowLanes * Shape::kWeightStride + key, a[i]);
#pragma unroll
    for (int e = 0; e < 4; ++e)
#pragma unroll
      for (int i = 0; i < kSumRows; ++i)
#pragma unroll
        for (int x = 0; x < kSumColumns; ++x) sums[i][x] = fmaf(a[i][e], b[x][e], sums[i][x]);
  }
}

// Adds the part of the block's keys to dQ: dS of its queries times all rows of K. `works(p)`: whether pair p
// has computed dS. All threads call it after a barrier behind dS and the products with P, which it
// overwrites. They meet again before the weights are written and the turn is passed on.
template <typename Shape, class Works>
__device__ __forceinline__ void add_in_turn(const PairOfWarps<Shape>& warps, const Works& works,
                                            const GradientRows& d_q, int first_query, int head_dim,
                                            float scale, Turns& turns, int block) {
  const int warp = threadIdx.x / kWarpLanes, part = warp / Shape::kTiles, tile = warp % Shape::kTiles;
  const int query = tile / Shape::kColumnTiles * 32 + warps.row_lane;      // and every 4th
  const int column = tile % Shape::kColumnTiles * 32 + warps.column_lane;  // and every 8th
  float sums[kSumRows][kSumColumns] = {};
  if (threadIdx.x == 0) turns.begin(block);
#pragma unroll 1
  for (int pair = part * Shape::kPairs / Shape::kParts; pair < (part + 1) * Shape::kPairs / Shape::kParts;
       ++pair) {
    if (!works(pair)) continue;
    multiply_changes<Shape>(
        warps.all_weights + (2 * pair + 1) * Shape::kWeights + query * Shape::kWeightStride,
        warps.all_rows + (pair * Shape::kHeadDim + column) * Shape::kRowPitch, sums);
  }
  // Each part adds its share of the rows. The others have left theirs where P was, where two warps share the
  // room of a pair.
  constexpr int kShare = Shape::kShare;
  const auto place = [&](int giver, int row) {
    const int number = giver * Shape::kTiles + tile, taker = row / kShare;
    const int line =
        number % 2 * (kSumRows - kShare) + (taker > giver ? taker - 1 : taker) * kShare + row % kShare;
    return warps.all_weights + number / 2 * (2 * Shape::kWeights) + (line * kWarpLanes + warps.lane) * 4;
  };
  if constexpr (Shape::kParts > 1) {
#pragma unroll
    for (int i = 0; i < kSumRows; ++i)
      if (i / kShare != part)
        *reinterpret_cast<float4*>(place(part, i)) =
            make_float4(sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
  }
  if (threadIdx.x == 0) turns.wait();
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kSumRows; ++i) {
    if (i / kShare != part) continue;
#pragma unroll
    for (int giver = 0; giver < Shape::kParts; ++giver) {
      if (giver == part) continue;
      float more[4];
      read_quad(place(giver, i), more);
#pragma unroll
      for (int x = 0; x < kSumColumns; ++x) sums[i][x] += more[x];
    }
    // A reduction in the L2, which waits for no old value. No other block adds here at this time.
    const int row = first_query + query + i * kRowLanes;
    if (row >= d_q.count) continue;
    auto* const to = reinterpret_cast<float*>(const_cast<char*>(d_q.row(row)));
#pragma unroll
    for (int x = 0; x < kSumColumns; ++x)
      if (column + x * kColumnLanes < head_dim) atomicAdd(to + column + x * kColumnLanes, sums[i][x] * scale);
  }
}

}  // namespace hilbench::cuda::simt
