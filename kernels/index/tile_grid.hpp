// Puts the tiles of a branch into the sequence of a traversal.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/case/case.hpp"
#include "kernels/index/index.hpp"
#include "kernels/traversals/fastest.hpp"

namespace hilbench {

// Heads of one stream share their tiles. Each tile is here once, without what depends on batch and head.
struct TileGrid {
  struct Row {
    std::int32_t batch = 0, head = 0, kv_head = 0;
    std::size_t stream = 0;
    bool merge = false;
  };
  std::vector<Row> rows;         // y: the batch entries and heads that run the branch
  std::int64_t columns = 0;      // x: the tiles of a row
  std::vector<IndexTile> tiles;  // [streams, columns]; without queries if a stream has fewer tiles
};

// Row y for each batch entry and head that runs the branch. `stream_of_head` [kv_heads].
std::vector<TileGrid::Row> grid_rows(const Case& work, std::int64_t branch,
                                     const std::vector<std::size_t>& stream_of_head);

// The tiles with queries, in the sequence of a traversal other than `auto`. `pairs`: number of pairs of a
// tile.
std::vector<IndexTile> visited_tiles(const TileGrid& grid, const Traversal& traversal,
                                     const std::function<double(const IndexTile&)>& pairs);

}  // namespace hilbench
