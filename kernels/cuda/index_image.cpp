#include "kernels/cuda/index_image.hpp"

#include <algorithm>

#include "harness/pattern.hpp"

namespace hilbench::cuda {

static_assert(sizeof(ForwardTile) == kDeviceTileBytes, "what the plan counts");

namespace {

// Keys of a list that a query at `position` sees; `positions` ascend.
std::int32_t visible(std::span<const std::int32_t> positions, std::int64_t position) {
  return static_cast<std::int32_t>(std::upper_bound(positions.begin(), positions.end(), position) -
                                   positions.begin());
}

}  // namespace

std::optional<std::int32_t> slot_stride(const BranchIndex& branch, KeyRows rows) {
  if (rows == KeyRows::gathered) return std::nullopt;
  std::optional<std::int32_t> stride;
  for (std::size_t stretch = 0; stretch + 1 < branch.begin.size(); ++stretch) {
    for (std::int64_t key = branch.begin[stretch] + 1; key < branch.begin[stretch + 1]; ++key) {
      const auto at = static_cast<std::size_t>(key);
      const std::int32_t step = branch.key_slot[at] - branch.key_slot[at - 1];
      if (step < 1 || (stride && *stride != step)) return std::nullopt;
      stride = step;
    }
  }
  return stride.value_or(1);
}

bool keys_by_position(const BranchIndex& branch) {
  for (std::size_t stretch = 0; stretch + 1 < branch.begin.size(); ++stretch)
    if (!std::is_sorted(branch.key_position.begin() + branch.begin[stretch],
                        branch.key_position.begin() + branch.begin[stretch + 1]))
      return false;
  return true;
}

std::vector<ForwardTile> forward_tiles(const Case& work, const Index& index, std::size_t branch_index) {
  const BranchIndex& branch = index.branches[branch_index];
  const bool ascending = keys_by_position(branch);
  std::vector<ForwardTile> tiles;
  tiles.reserve(branch.tiles.size());
  for (const TileVisit& visit : branch.tiles) {
    const TileQueries queries = tile_queries(work, index, branch_index, visit);
    const std::int64_t row = branch.y_head[static_cast<std::size_t>(visit.y)];
    const std::int64_t head = row % work.heads;
    const std::int64_t kv_head = kv_head_of(work, head);
    const auto stretch =
        static_cast<std::size_t>(branch.stream_of_head[static_cast<std::size_t>(kv_head)] * branch.segments +
                                 visit.x / branch.tiles_per_segment);
    const auto begin = static_cast<std::size_t>(branch.begin[stretch]);
    const auto keys = static_cast<std::size_t>(branch.begin[stretch + 1]) - begin;
    const auto positions = std::span(branch.key_position).subspan(begin, keys);
    ForwardTile tile;
    tile.query_first = static_cast<std::int32_t>(queries.first);
    tile.query_count = static_cast<std::int32_t>(queries.count);
    tile.key_begin = static_cast<std::int32_t>(begin);
    tile.key_count = tile.unmasked = static_cast<std::int32_t>(keys);
    if (work.mask == Mask::causal) {
      tile.unmasked = ascending ? visible(positions, queries.first) : 0;
      if (ascending) tile.key_count = visible(positions, queries.last());
    }
    if (keys > 0) {
      tile.key_slot = branch.key_slot[begin];
      tile.key_position = branch.key_position[begin];
    }
    tile.batch = static_cast<std::int32_t>(row / work.heads);
    tile.head = static_cast<std::int32_t>(head);
    tile.kv_head = static_cast<std::int32_t>(kv_head);
    tile.keys_backwards = visit.keys_backwards ? 1 : 0;
    tile.merge = first_branch(work, head) == branch_index ? 0 : 1;
    tiles.push_back(tile);
  }
  return tiles;
}

std::vector<HeadCover> head_covers(const Case& work) {
  std::vector<HeadCover> covers;
  bool gaps = false;
  for (std::int64_t head = 0; head < work.heads; ++head) {
    const Branch& branch = work.pattern[first_branch(work, head)];
    covers.push_back(
        {static_cast<std::int32_t>(std::min<std::int64_t>(branch.segment_length, work.sequence_length)),
         static_cast<std::int32_t>(std::min<std::int64_t>(branch.dilation, work.sequence_length)),
         static_cast<std::int32_t>(offset_of(work, branch, kv_head_of(work, head)))});
    gaps = gaps || branch.dilation > 1;
  }
  if (!gaps || work.queries == Queries::dense) covers.clear();
  return covers;
}

BranchImage::BranchImage(const Case& work, const VariantSpec& variant, const Index& index,
                         std::size_t branch_index) {
  const BranchIndex& branch = index.branches[branch_index];
  const std::vector<ForwardTile> list = forward_tiles(work, index, branch_index);
  const auto dilation = static_cast<std::int32_t>(
      std::min<std::int64_t>(work.pattern[branch_index].dilation, work.sequence_length));
  key_step = dilation;
  query_step = work.queries == Queries::dense ? 1 : dilation;
  any_merge = std::any_of(list.begin(), list.end(), [](const ForwardTile& tile) { return tile.merge != 0; });
  tiles = DeviceMemory<ForwardTile>(list);
  if (const std::optional<std::int32_t> stride = slot_stride(branch, variant.rows))
    key_slot_step = *stride;
  else
    key_slots = DeviceMemory<std::int32_t>(branch.key_slot);
  if (work.mask == Mask::causal && !keys_by_position(branch))
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
