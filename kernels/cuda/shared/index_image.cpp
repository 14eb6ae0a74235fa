#include "kernels/cuda/shared/index_image.hpp"

#include <algorithm>
#include <optional>

#include "kernels/case/pattern.hpp"

namespace hilbench::cuda {

static_assert(sizeof(ForwardTile) == kDeviceTileBytes, "what the plan counts");

std::vector<ForwardTile> forward_tiles(const BranchIndex& branch) {
  std::vector<ForwardTile> tiles;
  tiles.reserve(branch.tiles.size());
  for (const IndexTile& from : branch.tiles) {
    ForwardTile tile;
    tile.query_first = from.query_row;
    tile.query_count = from.query_count;
    tile.key_begin = static_cast<std::int32_t>(from.key_begin);
    tile.key_count = from.key_count;
    tile.unmasked = from.unmasked;
    if (from.key_count > 0) {
      tile.key_slot = branch.key_slot[static_cast<std::size_t>(from.key_begin)];
      tile.key_position = branch.key_position[static_cast<std::size_t>(from.key_begin)];
    }
    tile.batch = from.batch;
    tile.head = from.head;
    tile.kv_head = from.kv_head;
    tile.keys_backwards = from.keys_backwards ? 1 : 0;
    tile.merge = from.merge ? 1 : 0;
    tiles.push_back(tile);
  }
  return tiles;
}

std::vector<HeadCover> head_covers(const Case& work) {
  std::vector<HeadCover> covers;
  bool gaps = false;
  for (std::int64_t head = 0; head < work.heads; ++head) {
    const std::size_t first = first_branch(work, head);
    const Branch& branch = work.pattern[first];
    covers.push_back(
        {static_cast<std::int32_t>(std::min<std::int64_t>(branch.segment_length, work.sequence_length)),
         static_cast<std::int32_t>(std::min<std::int64_t>(branch.dilation, work.sequence_length)),
         static_cast<std::int32_t>(offset_of(work, first, kv_head_of(work, head)))});
    gaps = gaps || branch.dilation > 1;
  }
  if (!gaps || work.queries == Queries::dense) covers.clear();
  return covers;
}

BranchDropout branch_dropout(const Case& work, std::size_t branch) {
  BranchDropout made;
  made.dropout = dropout_of(work);
  made.segment_length = static_cast<std::int32_t>(
      std::min<std::int64_t>(work.pattern[branch].segment_length, work.sequence_length));
  made.branch = static_cast<std::int32_t>(branch);
  made.branches = static_cast<std::int32_t>(work.pattern.size());
  return made;
}

BranchImage::BranchImage(const Case& work, const KernelChoice& choice, const BranchIndex& branch)
    : key_step(branch.key_step) {
  if (!branch.tiles.empty()) query_step = branch.tiles.front().query_step;
  any_merge =
      std::any_of(branch.tiles.begin(), branch.tiles.end(), [](const IndexTile& tile) { return tile.merge; });
  tiles = DeviceMemory<ForwardTile>(forward_tiles(branch));
  if (const std::optional<std::int32_t> stride = slot_stride(branch, choice.rows))
    key_slot_step = *stride;
  else
    key_slots = DeviceMemory<std::int32_t>(branch.key_slot);
  if (work.mask == Mask::causal && !branch.keys_by_step)
    key_positions = DeviceMemory<std::int32_t>(branch.key_position);
}

void BranchImage::describe(ForwardParams& params) const {
  params.query_step = query_step;
  params.key_step = key_step;
  params.key_slot_step = key_slot_step;
  params.key_slots = key_slots.data();
  params.key_positions = key_positions.data();
  params.tiles = tiles.data();
  params.tile_count = static_cast<std::int32_t>(tiles.size());
  params.any_merge = any_merge ? 1 : 0;
}

}  // namespace hilbench::cuda
