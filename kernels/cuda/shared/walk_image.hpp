// The index of a walk over several sources as the CUDA kernels read it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/case/variant.hpp"
#include "kernels/cuda/shared/walk_kernel.hpp"
#include "kernels/index/walk.hpp"

namespace hilbench::cuda {

// The tiles of a branch, in the sequence of its traversal, for a kernel with blocks of `block_keys` keys; and
// its stretches, with one more at the end.
std::vector<ForwardTile> walk_tiles(const WalkBranch& branch, std::int32_t block_keys);
std::vector<KeyStretch> walk_stretches(const WalkBranch& branch);

// The distance between successive slots of the own shard, and of received ones.
struct WalkStrides {
  std::int32_t own = 1, received = 1;
};
// Nothing if the rows of either must be addressed through a table, which is then used for both.
std::optional<WalkStrides> walk_strides(const WalkBranch& branch, KeyRows rows);

}  // namespace hilbench::cuda
