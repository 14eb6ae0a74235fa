// Tensor maps (descriptors for the tensor memory accelerator) of K and V rows that are a fixed number of
// slots apart. C++17 and no fmt.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <tuple>

#include "kernels/cuda/shared/forward.hpp"

namespace hilbench::cuda {

// Dimensions {head_dim, slot mod step, slot / step, kv_head, batch entry}. If the step does not divide the
// length, the first (length mod step) residues have one row more than the others: map [1] is for those, map
// [0] for the rest, so that no map reaches past the end of its tensor.
struct StridedMaps {
  CUtensorMap k[2];
  CUtensorMap v[2];
};

// Maps that are already encoded, by what they depend on.
class StridedMapCache {
 public:
  // Each load brings `box_rows` rows of 64 16-bit elements, in 128-byte swizzle. Without any row the maps are
  // empty and must not be used.
  const StridedMaps& of(const ForwardShape& shape, const ForwardParams& params, std::int32_t box_rows);

 private:
  std::map<std::tuple<const void*, const void*, std::int32_t, std::int32_t>, StridedMaps> maps_;
};

}  // namespace hilbench::cuda
