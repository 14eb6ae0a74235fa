#include "kernels/cuda/shared/walk_image.hpp"

#include <set>

#include "kernels/cuda/shared/index_image.hpp"

namespace hilbench::cuda {

static_assert(sizeof(KeyStretch) == kDeviceStretchBytes, "what the plan counts");

std::vector<ForwardTile> walk_tiles(const WalkBranch& branch, std::int32_t block_keys) {
  std::vector<ForwardTile> tiles;
  tiles.reserve(branch.tiles.size());
  for (const IndexTile& from : branch.tiles) {
    ForwardTile& tile = tiles.emplace_back();
    tile.query_first = from.query_row;
    tile.query_count = from.query_count;
    tile.key_begin = static_cast<std::int32_t>(from.key_begin);
    for (std::int32_t i = 0; i < from.stretches; ++i) {
      const std::int32_t keys = branch.stretches[static_cast<std::size_t>(from.key_begin + i)].key_count;
      tile.key_count += (keys + block_keys - 1) / block_keys * block_keys;
    }
    tile.batch = from.batch;
    tile.head = from.head;
    tile.kv_head = from.kv_head;
    tile.merge = from.merge ? 1 : 0;
  }
  return tiles;
}

std::vector<KeyStretch> walk_stretches(const WalkBranch& branch) {
  std::vector<KeyStretch> stretches;
  stretches.reserve(branch.stretches.size() + 1);
  for (const hilbench::KeyStretch& from : branch.stretches) {
    const auto first = static_cast<std::size_t>(from.key_begin);
    stretches.push_back({.key_begin = static_cast<std::int32_t>(from.key_begin),
                         .key_count = from.key_count,
                         .key_slot = branch.key_slot[first],
                         .key_position = branch.key_position[first],
                         .unmasked = from.unmasked,
                         .source = from.source});
  }
  stretches.emplace_back();
  return stretches;
}

std::optional<WalkStrides> walk_strides(const WalkBranch& branch, KeyRows rows) {
  std::set<std::int64_t> own_begins;
  for (const hilbench::KeyStretch& stretch : branch.stretches)
    if (stretch.source == 0) own_begins.insert(stretch.key_begin);
  std::vector<std::size_t> own, received;
  for (std::size_t list = 0; list + 1 < branch.begin.size(); ++list)
    (own_begins.contains(branch.begin[list]) ? own : received).push_back(list);
  const auto of_own = slot_stride(branch, rows, own), of_received = slot_stride(branch, rows, received);
  if (!of_own || !of_received) return std::nullopt;
  return WalkStrides{*of_own, *of_received};
}

}  // namespace hilbench::cuda
