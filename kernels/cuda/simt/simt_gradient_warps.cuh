// The shared memory of a block of dilated_simt's backward pass, as its warps see it.
#pragma once

#include "kernels/cuda/simt/simt_gradient_shapes.hpp"
#include "kernels/cuda/simt/simt_products.cuh"

namespace hilbench::cuda::simt {

// The arrays of a block, and what a warp uses of them.
template <typename Shape>
struct PairOfWarps {
  int lane, row_lane, column_lane;
  int pair;
  bool second;            // of the pair's warps
  int warp_row;           // first row of the pair
  int first_row;          // of the lane
  float* all_rows;        // of K, transposed, pair by pair
  float* rows;            // of this warp's tensor, transposed
  float* first_columns;   // [kKeys][kRowStride]: K or Q
  float* second_columns;  // V or dO
  float* lse2;            // [kKeys], of queries in columns
  float* delta;
  float* all_weights;  // P and dS of each pair
  float* weights;      // of the pair: P, transposed
  float* changes;      // of the pair: dS, transposed

  __device__ __forceinline__ PairOfWarps() {
    extern __shared__ float4 shared[];
    lane = threadIdx.x % kWarpLanes;
    row_lane = row_lane_of(lane), column_lane = column_lane_of(lane);
    const int warp = threadIdx.x / kWarpLanes;
    pair = warp / 2, second = warp % 2 != 0;
    warp_row = pair * Shape::kWarpRows;
    first_row = warp_row + row_lane * 4;
    float* at = reinterpret_cast<float*>(shared);
    constexpr int kPairRows = Shape::kHeadDim * Shape::kRowPitch;
    all_rows = at;
    rows = at + ((second ? Shape::kPairs : 0) + pair) * kPairRows;
    at += 2 * Shape::kPairs * kPairRows;
    first_columns = at, at += Shape::kKeys * Shape::kRowStride;
    second_columns = at, at += Shape::kKeys * Shape::kRowStride;
    lse2 = at, delta = at + Shape::kKeys, at += Shape::kStatistics;
    all_weights = at;
    weights = at + 2 * pair * Shape::kWeights, changes = weights + Shape::kWeights;
  }

  // Both warps of the pair have come here, and see what the other has written. Pairs without work come too,
  // or compute-sanitizer's racecheck reports races across later barriers.
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

}  // namespace hilbench::cuda::simt
