// The index of any case: that of branches (kernels/index/index.hpp), or that of windows.
#pragma once

#include <optional>

#include "kernels/index/index.hpp"
#include "kernels/windows/window_tiles.hpp"

namespace hilbench {

// shape: of windows only what says how much a kernel reads. There are no keys and no masks: key_slot is
// empty, mask_of_block is 0 or kUnmasked, and fullest_block is set.
enum class IndexContents { all, shape };

// The index of a variant for a case. For windows `tile_rows` is kMaskedRows, and every list holds the keys
// of one tile by ascending slot. Throws UsageError as build_index does.
Index case_index(const Case& work, const KernelChoice& choice, std::int64_t tile_rows,
                 const TraversalFacts& facts = {}, IndexContents contents = IndexContents::all);

// A GPU gets the masks of windows in parts: at most this many (32 MiB) are in host memory a second time.
inline constexpr std::int64_t kMasksUnderway = std::int64_t{1} << 14;

// Bytes of the index in host memory, without building it: an upper bound, with `counts` of windows.
double case_index_bytes(const Case& work, const KernelChoice& choice, std::int64_t tile_rows,
                        const std::optional<TileCounts>& counts);
// The same for the part in a GPU's memory.
double case_device_index_bytes(const Case& work, const KernelChoice& choice, std::int64_t tile_rows,
                               const std::optional<TileCounts>& counts);

}  // namespace hilbench
