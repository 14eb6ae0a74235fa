// The index of a branch as the CUDA kernels read it: tile list and key tables in device memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/shared/forward.hpp"
#include "kernels/index/index.hpp"

namespace hilbench::cuda {

// The distance between successive slots, if it is the same in every key list of the branch: the rows can then
// be addressed without a table. Nothing if it is not the same, or if `rows` asks for the table. `linear` and
// `residue` orders give 1 .. dilation.
std::optional<std::int32_t> slot_stride(const BranchIndex& branch, KeyRows rows);

// The same for the lists numbered `lists` of the branch.
std::optional<std::int32_t> slot_stride(const BranchIndex& branch, KeyRows rows,
                                        const std::vector<std::size_t>& lists);

// The tiles of a branch, in the sequence of its traversal.
std::vector<ForwardTile> forward_tiles(const BranchIndex& branch);

// The slot of each row of Q: `slots`, those of the index, or 0, 1, 2 ... if it has none and the variant asks
// for a table. Empty if Q is addressed without a table.
std::vector<std::int32_t> query_slots(const Case& work, const KernelChoice& choice,
                                      std::vector<std::int32_t> slots);

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
