#include "kernels/index/tile_grid.hpp"

#include <algorithm>

#include "kernels/case/pattern.hpp"
#include "kernels/traversals/traversal.hpp"

namespace hilbench {

std::vector<TileGrid::Row> grid_rows(const Case& work, std::int64_t branch,
                                     const std::vector<std::size_t>& stream_of_head) {
  std::vector<TileGrid::Row> rows;
  for (std::int64_t b = 0; b < work.batch; ++b)
    for (std::int64_t head = 0; head < work.heads; ++head) {
      if (!head_runs_branch(work, head, branch)) continue;
      const std::int64_t kv_head = kv_head_of(work, head);
      rows.push_back({static_cast<std::int32_t>(b), static_cast<std::int32_t>(head),
                      static_cast<std::int32_t>(kv_head), stream_of_head[static_cast<std::size_t>(kv_head)],
                      first_branch(work, head) != static_cast<std::size_t>(branch)});
    }
  return rows;
}

std::vector<IndexTile> visited_tiles(const TileGrid& grid, const Traversal& traversal,
                                     const std::function<double(const IndexTile&)>& pairs) {
  const auto columns = static_cast<std::size_t>(grid.columns);
  const auto place = [&](std::int64_t x, std::int64_t y) {
    return grid.rows[static_cast<std::size_t>(y)].stream * columns + static_cast<std::size_t>(x);
  };
  // Pairs of each tile for one of its rows, if the traversal asks for them: a tile of few rows takes about as
  // long as a full one.
  std::vector<double> known;
  const auto cost = [&](std::int64_t x, std::int64_t y) {
    if (known.empty())
      for (const IndexTile& tile : grid.tiles) known.push_back(pairs(tile) / std::max(1, tile.query_count));
    return known[place(x, y)];
  };
  const std::vector<TileVisit> visits = traverse(traversal.name, traversal.param, grid.columns,
                                                 static_cast<std::int64_t>(grid.rows.size()), cost);
  std::vector<IndexTile> tiles;
  tiles.reserve(visits.size());
  for (const TileVisit& visit : visits) {
    const IndexTile& shared = grid.tiles[place(visit.x, visit.y)];
    if (shared.query_count == 0) continue;
    const TileGrid::Row& row = grid.rows[static_cast<std::size_t>(visit.y)];
    IndexTile& tile = tiles.emplace_back(shared);
    tile.batch = row.batch;
    tile.head = row.head;
    tile.kv_head = row.kv_head;
    tile.keys_backwards = visit.keys_backwards;
    tile.merge = row.merge;
  }
  return tiles;
}

}  // namespace hilbench
