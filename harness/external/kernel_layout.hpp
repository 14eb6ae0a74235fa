// What a kernel of the user is told besides the case: where K and V lie, and in which sequence to visit tiles
// (docs/kernels.md).
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/external/input_files.hpp"
#include "kernels/base/process/shared_file.hpp"
#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"
#include "kernels/traversals/fastest.hpp"

namespace hilbench {

inline constexpr std::int64_t kMostTileRows = 1 << 16;
// Numbers of a tile in the file of tiles, each int32: launch, batch, head, kv_head, position of the first
// query, step and count of queries, position of the first key, step and count of keys, leading keys that
// every query sees, and flags.
inline constexpr std::size_t kTileNumbers = 12;
inline constexpr std::int32_t kTileMerges = 1, kTileGoesBackwards = 2;

// How the variant stores its tensors.
StoredOrder stored_order(const Case& work, const KernelChoice& choice);

// The tiles of the case, kTileNumbers each, in the sequence in which they are to be visited.
std::vector<std::int32_t> tile_numbers(const Case& work, const KernelChoice& choice, std::int64_t tile_rows,
                                       const TraversalFacts& facts);

// The files of one kernel, and the key `kernel` of the request `load`, which has their paths.
struct KernelLayout {
  std::shared_ptr<const SharedFile> slots;
  std::shared_ptr<const SharedFile> tiles;  // null if the kernel has no tiles
  nlohmann::json request;
};
// `tile_rows`: query rows of a tile of this kernel; 0: it says none. Throws EnvironmentError.
KernelLayout kernel_layout(const Case& work, const KernelChoice& choice, const StoredOrder& order,
                           std::int64_t tile_rows, const TraversalFacts& facts);

}  // namespace hilbench
