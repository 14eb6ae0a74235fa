// Tensor maps (descriptors of the tensor memory accelerator) of K and V rows a fixed number of slots apart.
// C++17 and no fmt.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <tuple>

#include "kernels/cuda/shared/forward.hpp"

namespace hilbench::cuda {

// Dimensions {head_dim, slot mod step, slot / step, kv_head, batch entry}. Where the step does not divide the
// length, the first length mod step residues have one row more than the others: [1] serves those, [0] the
// rest, so that no map reaches past the end of its tensor.
struct StridedMaps {
  CUtensorMap k[2];
  CUtensorMap v[2];
};

// Maps already encoded, by what they depend on.
class StridedMapCache {
 public:
  // `box_rows` rows of 64 elements a load, in 128-byte swizzle. 16-bit elements. Nothing can be loaded by
  // those of no rows.
  const StridedMaps& of(const ForwardShape& shape, const ForwardParams& params, std::int32_t box_rows);

 private:
  std::map<std::tuple<const void*, const void*, std::int32_t, std::int32_t>, StridedMaps> maps_;
};

}  // namespace hilbench::cuda
