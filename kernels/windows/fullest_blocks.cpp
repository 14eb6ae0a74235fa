#include "kernels/windows/fullest_blocks.hpp"

#include <algorithm>
#include <bit>
#include <functional>

namespace hilbench {

int rows_that_see(const BlockMask& mask) {
  KeyMask rows = {};
  for (const KeyMask& key : mask)
    std::transform(key.begin(), key.end(), rows.begin(), rows.begin(), std::bit_or<>());
  int count = 0;
  for (const std::uint64_t word : rows) count += std::popcount(word);
  return count;
}

std::vector<std::int64_t> fullest_blocks(const BranchIndex& branch) {
  if (!branch.fullest_block.empty()) return branch.fullest_block;
  std::vector<int> rows_of_mask(branch.masks.size());
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < rows_of_mask.size(); ++i) rows_of_mask[i] = rows_that_see(branch.masks[i]);
  const auto rows_of_block = [&](std::int32_t mask) {
    return mask == kUnmasked ? static_cast<int>(kMaskedRows) : rows_of_mask[static_cast<std::size_t>(mask)];
  };
  std::vector<std::int64_t> best(branch.begin.size() - 1);
#pragma omp parallel for schedule(static)
  for (std::size_t list = 0; list < best.size(); ++list) {
    const auto first = branch.mask_of_block.begin() + branch.block_begin[list];
    const auto end = first + (branch.begin[list + 1] - branch.begin[list]) / kMaskedKeys;
    if (first != end) best[list] = std::ranges::max_element(first, end, {}, rows_of_block) - first;
  }
  return best;
}

}  // namespace hilbench
