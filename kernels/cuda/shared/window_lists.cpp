#include "kernels/cuda/shared/window_lists.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>

#include "kernels/base/text/error.hpp"
#include "kernels/windows/fullest_blocks.hpp"

namespace hilbench::cuda {
namespace {

static_assert(64 * kMaskWords == kMaskedRows * kMaskedKeys, "a bit for each pair");

// Bit i of word j becomes bit j of word i (Warren, Hacker's Delight, section 7-3).
void transpose(std::array<std::uint64_t, 64>& words) {
  std::uint64_t low = 0x00000000ffffffff;
  for (std::size_t width = 32; width > 0; width /= 2, low ^= low << width)
    for (std::size_t first = 0; first < 64; first += 2 * width)
      for (std::size_t i = first; i < first + width; ++i) {
        const std::uint64_t moved = (words[i] >> width ^ words[i + width]) & low;
        words[i + width] ^= moved;
        words[i] ^= moved << width;
      }
}

// The keys that each query sees: bit k % 64 of word [k / 64][q].
using QueryMasks = std::array<std::array<std::uint64_t, kMaskedRows>, kMaskedKeys / 64>;

QueryMasks by_query(const BlockMask& mask) {
  QueryMasks queries;
  std::array<std::uint64_t, 64> words;
  for (std::size_t half = 0; half < queries.size(); ++half)
    for (std::size_t group = 0; group < std::tuple_size_v<KeyMask>; ++group) {
      for (std::size_t key = 0; key < 64; ++key) words[key] = mask[64 * half + key][group];
      transpose(words);
      std::copy(words.begin(), words.end(), queries[half].begin() + static_cast<std::ptrdiff_t>(64 * group));
    }
  return queries;
}

// What one thread of a group of four holds of a fragment of 16 rows: of each 8 keys two successive ones, of a
// row `upper` and of `lower`, eight rows below it. Bits 4 n to 4 n + 3 are of keys 8 n on; `lane` is 0 to 3.
std::uint64_t fragment(std::uint64_t upper, std::uint64_t lower, std::size_t lane) {
  constexpr std::uint64_t kPairs = 0x0303030303030303;
  std::uint64_t bits = (upper >> 2 * lane & kPairs) | (lower >> 2 * lane & kPairs) << 2;
  bits = (bits | bits >> 4) & 0x00ff00ff00ff00ff;
  bits = (bits | bits >> 8) & 0x0000ffff0000ffff;
  return (bits | bits >> 16) & 0x00000000ffffffff;
}

// As masked_pair() says.
void write_mask(const BlockMask& mask, MaskLayout layout, std::uint64_t* words) {
  const QueryMasks queries = by_query(mask);
  const auto rows_of = [&](std::size_t half, std::size_t row, std::size_t lane) {
    return fragment(queries[half][row], queries[half][row + 8], lane);
  };
  for (std::size_t word = 0; word < kMaskWords; ++word) {
    const std::size_t row = word % 32 / 4, lane = word % 4;
    if (layout == MaskLayout::mma) {
      const std::size_t half = word / 128, first = word % 128 / 32 * 32 + row;
      words[word] = rows_of(half, first, lane) | rows_of(half, first + 16, lane) << 32;
    } else {
      const std::size_t first = word / 32 * 16 + row;
      words[word] = rows_of(0, first, lane) | rows_of(1, first, lane) << 32;
    }
  }
}

// Every query sees the first `keys` keys; there are no more.
BlockMask mask_of_first(std::int64_t keys) {
  BlockMask mask = {};
  for (std::int64_t key = 0; key < keys; ++key) mask[static_cast<std::size_t>(key)].fill(~std::uint64_t{0});
  return mask;
}

// Gives every list that ends with a block of fewer than kMaskedKeys keys a mask for it; returns the new
// masks.
std::vector<BlockMask> mask_short_blocks(const BranchIndex& branch,
                                         std::vector<std::int32_t>& mask_of_block) {
  std::vector<BlockMask> added;
  std::map<std::int64_t, std::int32_t> number_of;  // by keys of the block
  for (std::size_t list = 0; list + 1 < branch.begin.size(); ++list) {
    const std::int64_t keys = (branch.begin[list + 1] - branch.begin[list]) % kMaskedKeys;
    if (keys == 0) continue;
    std::int32_t& mask = mask_of_block[static_cast<std::size_t>(branch.block_begin[list + 1] - 1)];
    if (mask != kUnmasked) continue;
    const auto [at, is_new] =
        number_of.try_emplace(keys, static_cast<std::int32_t>(branch.masks.size() + added.size()));
    if (is_new) added.push_back(mask_of_first(keys));
    mask = at->second;
  }
  return added;
}

std::vector<std::int32_t> blocks_of_keys(const BranchIndex& branch) {
  std::vector<std::int32_t> blocks;
  blocks.reserve(branch.mask_of_block.size());
  for (std::size_t list = 0; list + 1 < branch.begin.size(); ++list)
    for (std::int64_t key = branch.begin[list]; key < branch.begin[list + 1]; key += kMaskedKeys)
      blocks.push_back(branch.key_slot[static_cast<std::size_t>(key)] /
                       static_cast<std::int32_t>(kMaskedKeys));
  return blocks;
}

// Moves block best[list] of every list to its front. `entries`: `size` of each block, from begin[list] on.
void move_to_front(const std::vector<std::int64_t>& best, const std::vector<std::int64_t>& begin,
                   std::int64_t size, std::span<std::int32_t> entries) {
#pragma omp parallel for schedule(static)
  for (std::size_t list = 0; list < best.size(); ++list) {
    if (best[list] == 0) continue;
    const auto first = entries.begin() + begin[list];
    std::rotate(first, first + best[list] * size, first + (best[list] + 1) * size);
  }
}

UntouchedVector<std::int32_t> slots_of_keys(const BranchIndex& branch) {
  UntouchedVector<std::int32_t> slots(branch.key_slot.size());
#pragma omp parallel for schedule(static)
  for (std::size_t list = 0; list < branch.begin.size() - 1; ++list)
    std::copy(branch.key_slot.begin() + branch.begin[list], branch.key_slot.begin() + branch.begin[list + 1],
              slots.begin() + branch.begin[list]);
  return slots;
}

std::int32_t in_32_bits(std::int64_t entry) {
  if (entry > std::numeric_limits<std::int32_t>::max())
    throw UsageError({"the lists of keys of the windows have more than 2^31 entries", "index of a variant",
                      "kernels of GPUs number them with 32 bits", "use smaller windows, or tiles: aligned"});
  return static_cast<std::int32_t>(entry);
}

}  // namespace

MaskedPair masked_pair(MaskLayout layout, std::int32_t word, std::int32_t bit) {
  const std::int32_t thread = layout == MaskLayout::mma ? word % 128 : word;
  const std::int32_t warp = thread / 32, lane = thread % 32;
  const std::int32_t key = bit % 32 / 4 * 8 + lane % 4 * 2 + bit % 2;
  const std::int32_t query = lane / 4 + bit / 2 % 2 * 8;
  if (layout == MaskLayout::mma) return {warp * 32 + bit / 32 * 16 + query, word / 128 * 64 + key};
  return {warp * 16 + query, bit / 32 * 64 + key};
}

WindowLists window_lists(const BranchIndex& branch, KeyTiles tiles, MaskLayout layout) {
  WindowLists lists{.mask_of_block = branch.mask_of_block, .masks = branch.masks};
  lists.short_masks = mask_short_blocks(branch, lists.mask_of_block);
  if (layout == MaskLayout::wgmma && tiles == KeyTiles::aligned)
    lists.key_blocks = blocks_of_keys(branch);
  else
    lists.key_slots = slots_of_keys(branch);
  if (layout == MaskLayout::wgmma) {
    const std::vector<std::int64_t> best = fullest_blocks(branch);
    move_to_front(best, branch.block_begin, 1, lists.mask_of_block);
    if (tiles == KeyTiles::aligned)
      move_to_front(best, branch.block_begin, 1, lists.key_blocks);
    else
      move_to_front(best, branch.begin, kMaskedKeys, lists.key_slots);
  }
  return lists;
}

void write_masks(const WindowLists& lists, MaskLayout layout, std::size_t first,
                 std::span<std::uint64_t> words) {
  const std::size_t own = lists.masks.size(), count = words.size() / kMaskWords;
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t number = first + i;
    write_mask(number < own ? lists.masks[number] : lists.short_masks[number - own], layout,
               &words[i * kMaskWords]);
  }
}

GridBoxes grid_boxes(const Case& work, const KernelChoice& choice) {
  GridBoxes boxes;
  const std::size_t missing = std::size(boxes.extents) - work.windows.size();
  for (std::size_t d = 0; d < work.windows.size(); ++d) {
    boxes.extents[missing + d] = static_cast<std::int32_t>(work.windows[d].extent);
    if (d < choice.order_box.size()) boxes.box[missing + d] = static_cast<std::int32_t>(choice.order_box[d]);
  }
  return boxes;
}

std::vector<ForwardTile> window_tiles(const BranchIndex& branch, const WindowLists& lists) {
  std::vector<ForwardTile> tiles;
  tiles.reserve(branch.tiles.size());
  for (const IndexTile& from : branch.tiles) {
    const auto list = static_cast<std::size_t>(from.query_row / kMaskedRows);
    const std::int64_t begin = branch.block_begin[list], end = branch.block_begin[list + 1];
    ForwardTile tile;
    tile.query_first = from.query_row;
    tile.query_count = from.query_count;
    tile.key_begin = in_32_bits(from.key_begin);
    tile.key_count = from.key_count;
    tile.key_position = in_32_bits(begin);
    tile.unmasked = kUnmasked;
    if (begin < end)
      tile.unmasked = lists.mask_of_block[static_cast<std::size_t>(from.keys_backwards ? end - 1 : begin)];
    tile.batch = from.batch;
    tile.head = from.head;
    tile.kv_head = from.kv_head;
    tile.keys_backwards = from.keys_backwards ? 1 : 0;
    tiles.push_back(tile);
  }
  return tiles;
}

}  // namespace hilbench::cuda
