// The block of keys with which kernels begin that choose the scale of exponentials by the first block.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/index/index.hpp"

namespace hilbench {

// How many rows see some key of a block.
int rows_that_see(const BlockMask& mask);

// For each list of windows, the number of the block in which most query rows see a key; blocks of fewer than
// kMaskedKeys keys are left out. 0 if there is no other.
std::vector<std::int64_t> fullest_blocks(const BranchIndex& branch);

}  // namespace hilbench
