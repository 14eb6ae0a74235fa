// The lists and masks of windows on a grid as GPU kernels read them: masks as bits in the sequence in which a
// thread holds its scores. No CUDA call: all of it is tested without a GPU.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"
#include "kernels/cuda/shared/window_kernel.hpp"
#include "kernels/index/index.hpp"

namespace hilbench::cuda {

// The pair of a tile's query and a block's key that a bit of a mask stands for.
struct MaskedPair {
  std::int32_t query = 0, key = 0;
};
// Bit `bit` of word `word` of a mask. mma: words 128 h .. 128 h + 127 are of the threads of a block and keys
// 64 h .. 64 h + 63, bit 32 m + 4 n + i is s[m][n][i] (mma_tiling.cuh). wgmma: word t is of consumer thread
// t, bit i is s[i] (hopper.cuh).
MaskedPair masked_pair(MaskLayout layout, std::int32_t word, std::int32_t bit);

// Of one branch, for all its lists. For `wgmma` each list begins with the block in which most rows see a key:
// rows that have seen none choose the scale of their exponentials anew in every block. Other lists are as in
// the branch.
struct WindowLists {
  std::vector<std::int32_t> mask_of_block;  // a last block of fewer than kMaskedKeys keys always has a mask
  MaskList masks;                           // those of the branch, and after them:
  std::vector<BlockMask> short_masks;       // of last blocks that had none
  std::vector<std::int32_t> key_blocks;     // wgmma and aligned: slots kMaskedKeys * b on; else empty
  UntouchedVector<std::int32_t> key_slots;  // of each key; empty beside key_blocks
  std::size_t mask_count() const { return masks.size() + short_masks.size(); }
};
WindowLists window_lists(const BranchIndex& branch, KeyTiles tiles, MaskLayout layout);

// Writes the words of the masks from number `first` on, [masks, kMaskWords]: as many as `words` has room for.
void write_masks(const WindowLists& lists, MaskLayout layout, std::size_t first,
                 std::span<std::uint64_t> words);

// The boxes of order `boxes`; those of other orders are single positions.
GridBoxes grid_boxes(const Case& work, const KernelChoice& choice);

// The tiles of windows, in the sequence of their traversal. Throws UsageError if a list begins past 2^31
// entries.
std::vector<ForwardTile> window_tiles(const BranchIndex& branch, const WindowLists& lists);

}  // namespace hilbench::cuda
