// The backward pass of one query tile of dilated attention (docs/definitions.md, "Backward"): scores are
// computed again, a block of keys at a time, from the LSE that the forward pass left. Sums are fp32; bf16 is
// multiplied as in the forward pass.
#pragma once

#include <cstdint>

#include "kernels/cpu/dilated_tile.hpp"

namespace hilbench {

// Slots of K and V.
struct SlotRange {
  std::int64_t begin = 0, end = 0;
};

// `forward` says which queries and keys there are, and where Q, K, V and the LSE of all branches are; its o
// and combine are not used.
struct GradientTile {
  Tile forward;
  const void* d_o = nullptr;     // like q
  const float* delta = nullptr;  // D = sum of dO o O of each row; like lse
  // What is computed is added here, in fp32; rows in the slots and strides of q, k and v. Null: not wanted;
  // d_k and d_v are wanted together.
  float* d_q = nullptr;
  float* d_k = nullptr;
  float* d_v = nullptr;
  SlotRange keys;  // only keys in these slots take part
};

// Floats of workspace, 64-byte aligned, that run_gradient_tile needs for tiles of at most `tile_rows`
// queries.
std::int64_t gradient_workspace_floats(std::int64_t head_dim, std::int64_t tile_rows);

void run_gradient_tile(const GradientTile& tile, float* workspace);

// D of `count` rows of O, `o_stride` elements apart, and of dO in `slots` (empty: the same rows): to[i *
// to_stride].
struct DeltaRows {
  Dtype dtype = Dtype::fp32;
  std::int64_t head_dim = 0, stride = 0, to_stride = 0;
  const void* d_o = nullptr;
  const void* o = nullptr;
  std::span<const std::int32_t> slots;
};
void compute_deltas(const DeltaRows& rows, std::int64_t first, std::int64_t count, float* to);

}  // namespace hilbench
