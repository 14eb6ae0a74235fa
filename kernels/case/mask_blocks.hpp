// The mathematics of `mask` (docs/definitions.md): the query at position t sees the keys of all blocks that
// the mask selects for its own block, floor(t / mask_block); with `causal: true` those that do not come after
// it. The last block may be short. A query may see no key: O is 0 there and LSE -infinity.
//
// All functions of a case but why_not_mask throw std::logic_error if the bits of the case's mask are not
// loaded.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/base/text/refusal.hpp"
#include "kernels/case/block_bits.hpp"
#include "kernels/case/case.hpp"

namespace hilbench {

inline constexpr std::int64_t kMaskBlock = 64;  // positions of a block, unless `mask_block` says otherwise
inline constexpr std::int64_t kLongestMaskBlock = std::int64_t{1} << 20;

MaskBlocks mask_of_bits(std::shared_ptr<const BlockBits> bits, std::int64_t block);
// The bits of the case's mask.
const BlockBits& bits_of(const Case& work);

// The hash as records hold it, 16 hexadecimal digits; ids have the first eight.
std::string mask_text(const MaskBlocks& mask);

// Blocks that a sequence has.
std::int64_t blocks_of_length(std::int64_t length, std::int64_t block);
// Why the mask of a case is impossible. Cases without one are possible.
Refusal why_not_mask(const Case& work);

// Keys that the query at `position` sees.
std::int64_t seen_count(const Case& work, std::int64_t position);

// Of one head and batch entry.
struct MaskCounts {
  double pairs = 0;       // needed (query, key) pairs
  double query_rows = 0;  // that see a key
  double kv_rows = 0;     // that some query sees
};
MaskCounts count_mask(const Case& work);

}  // namespace hilbench
