// The index of a branch as the CUDA kernels read it: tile list and key tables in device memory.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/shared/forward.hpp"
#include "kernels/index/index.hpp"
#include "kernels/index/slot_stride.hpp"

namespace hilbench::cuda {

// The tiles of a branch, in the sequence of its traversal.
std::vector<ForwardTile> forward_tiles(const BranchIndex& branch);

// For each head the cover of the first branch that it runs; empty if that leaves no row uncovered.
std::vector<HeadCover> head_covers(const Case& work);

// What dropout needs of the branch with this number.
BranchDropout branch_dropout(const Case& work, std::size_t branch);

// Tables of one branch on the current device.
struct BranchImage {
  BranchImage(const Case& work, const KernelChoice& choice, const BranchIndex& branch);

  // Sets tiles, steps and tables.
  void describe(ForwardParams& params) const;

  std::int32_t query_step = 1, key_step = 1, key_slot_step = 1;
  bool any_merge = false;
  DeviceMemory<ForwardTile> tiles;
  DeviceMemory<std::int32_t> key_slots, key_positions;  // empty where not needed
};

}  // namespace hilbench::cuda
