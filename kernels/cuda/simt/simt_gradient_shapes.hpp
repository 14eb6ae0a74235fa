// Sizes of the blocks of dilated_simt's backward pass, and which of them a GPU runs. For device code and for
// the host.
#pragma once

#include "kernels/cuda/simt/simt_shapes.hpp"

namespace hilbench::cuda::simt {

// Two warps ("a pair") have the same kWarpRows rows. Names as in TileShape: "keys" are the columns of a
// block, which are queries where keys are rows.
template <int kHeadDim_, int kRowsPerLane_, int kKeysPerLane_, int kPairs_, int kBlocksPerSm_>
struct GradientShape {
  static constexpr int kHeadDim = kHeadDim_;
  static constexpr int kRowsPerLane = kRowsPerLane_;
  static constexpr int kKeysPerLane = kKeysPerLane_;
  static constexpr int kPairs = kPairs_;
  static constexpr int kBlocksPerSm = kBlocksPerSm_;
  static constexpr int kThreads = kPairs * 2 * kWarpLanes;
  static constexpr int kWarpRows = kRowLanes * kRowsPerLane;
  static constexpr int kRowPitch = kWarpRows;  // floats, of a line of transposed rows
  static constexpr int kRows = kPairs * kWarpRows;
  static constexpr int kKeys = kColumnLanes * kKeysPerLane;
  static constexpr int kQuads = kHeadDim / (kColumnLanes * 4);
  static constexpr int kRowStride = kHeadDim + 4;
  static constexpr int kWeightStride = kWarpRows + 8;
  static constexpr int kWeights =
      (kKeys + 1) * kWeightStride;  // of a pair; the last line is read, never used
  // Floats of the statistics of the columns. The line behind the columns is read ahead, never used: it must
  // not be one that another pair writes at that time, such as P.
  static constexpr int kStatistics = 2 * kKeys > kHeadDim ? 2 * kKeys : kHeadDim;
  // Whether registers hold the next columns during the products. Sums of longer rows leave none.
  static constexpr bool kPrefetches = kHeadDim <= 128;
  // Two tensors of rows, two of columns, P and dS of each pair, and the statistics of the columns.
  static constexpr int kSharedBytes =
      (2 * kRows * kHeadDim + 2 * kKeys * kRowStride + 2 * kPairs * kWeights + kStatistics) * 4;
  static constexpr bool kInTurn = false;
};

constexpr int kSumRows = 8, kSumColumns = 4;  // of dQ in a lane

// A block of keys that adds to dQ besides. Transposed rows of K are read along the keys too: the pitch keeps
// the lanes on different banks. A tile of dQ has 32 queries and 32 columns; warps with the same tile take
// parts of the keys.
template <typename Shape>
struct InTurn : Shape {
  static constexpr bool kInTurn = true;
  static constexpr int kRowPitch = Shape::kWarpRows + 4;
  static constexpr int kSharedBytes = Shape::kSharedBytes + 2 * Shape::kPairs * Shape::kHeadDim * 4 * 4;
  static constexpr int kColumnTiles = Shape::kHeadDim / 32;
  static constexpr int kTiles = Shape::kKeys / 32 * kColumnTiles;
  static constexpr int kParts = 2 * Shape::kPairs / kTiles;
  static constexpr int kShare = kSumRows / kParts;  // rows of a lane that each part adds
};
// Whether warps divide among the tiles, and what parts leave to each other finds room where P was.
template <typename Shape>
constexpr bool has_turns() {
  if constexpr (Shape::kPrefetches && Shape::kKeys % 32 == 0) {
    using Turns = InTurn<Shape>;
    return 2 * Shape::kPairs % Turns::kTiles == 0 && Shape::kPairs % Turns::kParts == 0 &&
           kSumRows % Turns::kParts == 0 &&
           Shape::kWeights >= 2 * (kSumRows - Turns::kShare) * kWarpLanes * kSumColumns;
  }
  return false;
}

// head_dim, rows and keys of a lane, pairs, blocks on a multiprocessor
using SmallGradients64 = GradientShape<64, 8, 4, 1, 2>;
using SmallGradients128 = GradientShape<128, 4, 2, 1, 2>;
using MiddleGradients64 = GradientShape<64, 8, 4, 2, 2>;
using MiddleGradients128 = GradientShape<128, 8, 4, 3, 1>;
using LargeGradients64 = GradientShape<64, 8, 8, 4, 1>;
using LargeGradients128 = GradientShape<128, 8, 4, 4, 1>;
using MiddleGradients256 = GradientShape<256, 4, 4, 2, 1>;
using LargeGradients256 = GradientShape<256, 4, 4, 4, 1>;

// As visit_shape().
template <class Result, class Visit>
Result visit_gradient_shape(int head_dim, Result none, Visit visit) {
  if (head_dim < 8 || head_dim > 256 || head_dim % 8 != 0) return none;
  if (head_dim > 128) {
    if (runs_here(LargeGradients256::kSharedBytes)) return visit(LargeGradients256());
    return runs_here(MiddleGradients256::kSharedBytes) ? visit(MiddleGradients256()) : none;
  }
  if (head_dim > 64) {
    if (runs_here(LargeGradients128::kSharedBytes)) return visit(LargeGradients128());
    if (runs_here(MiddleGradients128::kSharedBytes)) return visit(MiddleGradients128());
    return runs_here(SmallGradients128::kSharedBytes) ? visit(SmallGradients128()) : none;
  }
  if (runs_here(LargeGradients64::kSharedBytes)) return visit(LargeGradients64());
  if (runs_here(MiddleGradients64::kSharedBytes)) return visit(MiddleGradients64());
  return runs_here(SmallGradients64::kSharedBytes) ? visit(SmallGradients64()) : none;
}

}  // namespace hilbench::cuda::simt
