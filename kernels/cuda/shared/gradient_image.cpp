#include "kernels/cuda/shared/gradient_image.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

namespace hilbench::cuda {
namespace {

// The runs of the tiles that read one list for one batch entry and K/V head.
std::vector<QueryRun> runs_of(std::vector<const IndexTile*> readers) {
  std::ranges::sort(readers, {},
                    [](const IndexTile* tile) { return std::pair(tile->head, tile->query_row); });
  std::vector<QueryRun> runs;
  for (const IndexTile* tile : readers) {
    const std::int32_t next = runs.empty() ? 0 : runs.back().first + runs.back().count * tile->query_step;
    if (!runs.empty() && runs.back().head == tile->head && next == tile->query_row)
      runs.back().count += tile->query_count;
    else
      runs.push_back({tile->query_row, tile->query_count, tile->head, tile->batch});
  }
  return runs;
}

// Queries at or after `position`.
std::int64_t queries_from(const QueryRun& run, std::int32_t step, std::int32_t position) {
  const std::int64_t before = std::max<std::int64_t>(std::int64_t{position} - run.first, 0);
  return std::max<std::int64_t>(run.count - (before + step - 1) / step, 0);
}

}  // namespace

KeyTileLists key_tile_lists(const Case& work, const BranchIndex& branch, std::int32_t rows) {
  std::map<std::tuple<std::int64_t, std::int32_t, std::int32_t>, std::vector<const IndexTile*>> readers;
  for (const IndexTile& tile : branch.tiles)  // an empty list begins where the next one does
    if (tile.key_count > 0) readers[{tile.key_begin, tile.batch, tile.kv_head}].push_back(&tile);
  KeyTileLists made;
  for (const auto& [list, tiles] : readers) {
    const auto& [begin, batch, kv_head] = list;
    const std::int64_t end = *std::ranges::upper_bound(branch.begin, begin);
    const std::vector<QueryRun> runs = runs_of(tiles);
    const auto run_begin = static_cast<std::int32_t>(made.runs.size());
    made.runs.insert(made.runs.end(), runs.begin(), runs.end());
    const std::size_t first_tile = made.tiles.size();
    for (std::int64_t first = begin; first < end; first += rows) {
      const auto at = static_cast<std::size_t>(first);
      KeyTile tile;
      tile.key_begin = static_cast<std::int32_t>(first);
      tile.key_count = static_cast<std::int32_t>(std::min<std::int64_t>(rows, end - first));
      tile.key_number = static_cast<std::int32_t>(first - begin);
      tile.key_slot = branch.key_slot[at];
      tile.key_position = branch.key_position[at];
      tile.batch = batch, tile.kv_head = kv_head;
      tile.run_begin = run_begin, tile.run_count = static_cast<std::int32_t>(runs.size());
      if (work.mask == Mask::causal) {
        const auto [least, most] = std::minmax_element(branch.key_position.begin() + first,
                                                       branch.key_position.begin() + first + tile.key_count);
        tile.first_position = *least, tile.last_position = *most;
      }
      made.tiles.push_back(tile);
    }
    // A block of queries sees keys of the first tiles of this sequence alone.
    const auto of_list = std::span(made.tiles).subspan(first_tile);
    std::ranges::stable_sort(of_list, {}, &KeyTile::first_position);
    for (std::size_t i = 0; i < of_list.size(); ++i) of_list[i].turn = static_cast<std::int32_t>(i);
  }
  // Longest first; of one list, in turn: who waits waits for a tile that has begun.
  const auto queries_of = [&](const KeyTile& tile) {
    std::int64_t queries = 0;
    for (std::int32_t run = 0; run < tile.run_count; ++run)
      queries += queries_from(made.runs[static_cast<std::size_t>(tile.run_begin + run)],
                              branch.tiles.front().query_step, tile.first_position);
    return queries;
  };
  std::ranges::stable_sort(made.tiles, std::ranges::greater(), queries_of);
  return made;
}

}  // namespace hilbench::cuda
