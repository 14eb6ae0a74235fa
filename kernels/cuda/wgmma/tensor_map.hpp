// Tensor maps (descriptors for the tensor memory accelerator) of rows that are a fixed number of slots apart.
// C++17 and no fmt.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <tuple>

#include "kernels/cuda/shared/walk_kernel.hpp"
#include "kernels/cuda/shared/window_kernel.hpp"

namespace hilbench::cuda {

// Rows of one tensor [batch, slots, heads, head_dim]. Dimensions {head_dim, slot mod step, slot / step, head,
// batch entry}. If the step does not divide the number of slots, the first (slots mod step) residues have one
// row more than the others: map [1] is for those, map [0] for the rest, so that no map reaches past the end
// of its tensor.
struct StridedRows {
  CUtensorMap map[2];
};

struct StridedMaps {
  StridedRows q, k, v, o;
};

// The own tensors, and the received shards one after another, in their layout: shard s of batch entry b is
// entry s * batch + b.
struct WalkMaps : StridedMaps {
  StridedRows received_k, received_v;
};

// What the boxes of a kernel hold: rows of 64 16-bit elements, in 128-byte swizzle.
struct BoxRows {
  std::int32_t q = 0;
  std::int32_t kv = 0;
  std::int32_t o = 0;
};

// What maps of q, k, v and o depend on, beside the shape: the tensors, null if they have no map; the rows of
// K and V; and the steps of queries and keys.
using StridedMapKey =
    std::tuple<const void*, const void*, const void*, const void*, std::int32_t, std::int32_t, std::int32_t>;

// Maps that are already encoded, by what they depend on. A tensor without a row, K and V that are gathered, Q
// with slots and O in fp32 have empty maps, which must not be used.
class StridedMapCache {
 public:
  const StridedMaps& of(const ForwardShape& shape, const ForwardParams& params, const BoxRows& boxes);

 private:
  std::map<StridedMapKey, StridedMaps> maps_;
};

// The same with maps of received shards.
class WalkMapCache {
 public:
  const WalkMaps& of(const ForwardShape& shape, const WalkForwardParams& params, const BoxRows& boxes);

 private:
  using Key = std::tuple<StridedMapKey, const void*, const void*, std::int32_t, std::int32_t, bool>;
  std::map<Key, WalkMaps> maps_;
};

// Maps of boxes of 128 positions of a grid, of 64 elements of a row each, over Q, K and V as [batch * planes,
// rows, columns, heads, head_dim], in map [0] of each; O has none. If a block of K and V has 64 keys, their
// boxes are halves, cut where a box is more than one position long.
class BoxMapCache {
 public:
  const StridedMaps& of(const ForwardShape& shape, const WindowForwardParams& params, const BoxRows& boxes);

 private:
  std::map<std::tuple<const void*, const void*, const void*>, StridedMaps> maps_;
};

}  // namespace hilbench::cuda
