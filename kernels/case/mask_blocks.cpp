#include "kernels/case/mask_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "kernels/case/windows.hpp"

namespace hilbench {
namespace {

std::int64_t block_length(const Case& work, std::int64_t block) {
  const std::int64_t first = block * work.mask_blocks.block;
  return std::min(work.mask_blocks.block, work.sequence_length - first);
}

// Selected blocks of keys among the first `count`.
std::int64_t selected_below(std::span<const std::uint64_t> row, std::int64_t count) {
  std::int64_t selected = 0;
  const auto whole = static_cast<std::size_t>(count / 64);
  for (const std::uint64_t word : row.first(whole)) selected += std::popcount(word);
  if (count % 64 != 0) selected += std::popcount(row[whole] & ((std::uint64_t{1} << count % 64) - 1));
  return selected;
}

// Keys in the selected blocks among the first `count`, of which the last may be short.
std::int64_t keys_below(const Case& work, std::int64_t query_block, std::int64_t count) {
  const BlockBits& bits = bits_of(work);
  const std::int64_t last = bits.blocks() - 1;
  std::int64_t keys = selected_below(bits.row(query_block), std::min(count, last)) * work.mask_blocks.block;
  if (count > last && bits.selects(query_block, last)) keys += block_length(work, last);
  return keys;
}

// What one block of queries adds.
struct QueryBlock {
  double pairs = 0, rows = 0;
};

QueryBlock count_block(const Case& work, std::int64_t block) {
  const BlockBits& bits = bits_of(work);
  const auto rows = static_cast<double>(block_length(work, block));
  if (work.mask == Mask::full) {
    const std::int64_t keys = keys_below(work, block, bits.blocks());
    return {rows * static_cast<double>(keys), keys > 0 ? rows : 0};
  }
  const std::int64_t earlier = keys_below(work, block, block);
  const bool own = bits.selects(block, block);
  return {rows * static_cast<double>(earlier) + (own ? rows * (rows + 1) / 2 : 0),
          earlier > 0 || own ? rows : 0};
}

// Keys that some query sees: whole blocks, since the block's own last query, or a later block's, sees all
// keys.
double seen_keys(const Case& work) {
  const BlockBits& bits = bits_of(work);
  std::vector<std::uint64_t> seen(bits.row(0).size());
  for (std::int64_t q = 0; q < bits.blocks(); ++q) {
    const std::span<const std::uint64_t> row = bits.row(q);
    const std::int64_t count = work.mask == Mask::causal ? q + 1 : bits.blocks();
    for (std::int64_t w = 0; w * 64 < count; ++w) {
      const std::int64_t left = count - w * 64;
      const std::uint64_t kept = left >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
      seen[static_cast<std::size_t>(w)] |= row[static_cast<std::size_t>(w)] & kept;
    }
  }
  double keys = 0;
  for (std::int64_t k = 0; k < bits.blocks(); ++k)
    if ((seen[static_cast<std::size_t>(k / 64)] >> k % 64 & 1) != 0)
      keys += static_cast<double>(block_length(work, k));
  return keys;
}

}  // namespace

MaskBlocks mask_of_bits(std::shared_ptr<const BlockBits> bits, std::int64_t block) {
  const std::int64_t blocks = bits->blocks();
  const std::uint64_t hash = bits->hash();
  return {.block = block, .blocks = blocks, .hash = hash, .bits = std::move(bits)};
}

const BlockBits& bits_of(const Case& work) {
  if (work.mask_blocks.bits == nullptr) throw std::logic_error("the bits of a mask are not loaded");
  return *work.mask_blocks.bits;
}

std::string mask_text(const MaskBlocks& mask) {
  return fmt::format("{:016x}", mask.hash);
}

std::int64_t blocks_of_length(std::int64_t length, std::int64_t block) {
  return length / block + (length % block != 0 ? 1 : 0);
}

Refusal why_not_mask(const Case& work) {
  if (!has_mask_blocks(work)) return std::nullopt;
  const MaskBlocks& mask = work.mask_blocks;
  const std::int64_t wanted = blocks_of_length(work.sequence_length, mask.block);
  if (wanted != mask.blocks)
    return fmt::format(
        "the mask has {} x {} blocks, {} positions in blocks of {} have {}; change mask_block, or "
        "leave sequence_length out",
        mask.blocks, mask.blocks, work.sequence_length, mask.block, wanted);
  if (mask.bits != nullptr && count_mask(work).pairs == 0) return "the mask leaves every query without a key";
  return std::nullopt;
}

std::int64_t seen_count(const Case& work, std::int64_t position) {
  const std::int64_t block = position / work.mask_blocks.block;
  const BlockBits& bits = bits_of(work);
  if (work.mask == Mask::full) return keys_below(work, block, bits.blocks());
  const std::int64_t own = bits.selects(block, block) ? position - block * work.mask_blocks.block + 1 : 0;
  return keys_below(work, block, block) + own;
}

MaskCounts count_mask(const Case& work) {
  MaskCounts counts;
  for (std::int64_t block = 0; block < bits_of(work).blocks(); ++block) {
    const QueryBlock one = count_block(work, block);
    counts.pairs += one.pairs;
    counts.query_rows += one.rows;
  }
  counts.kv_rows = seen_keys(work);
  return counts;
}

}  // namespace hilbench
