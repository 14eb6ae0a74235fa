#include "kernels/traversals/traversal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernels/base/text/error.hpp"
#include "kernels/orders/curves.hpp"
#include "kernels/orders/named_entry.hpp"

namespace hilbench {
namespace {

constexpr std::int64_t kMaxTiles = std::int64_t{1} << 31;
constexpr std::int64_t kMaxGroup = std::int64_t{1}
                                   << 40;  // the limit of a sweep; more columns than the grid has mean all
constexpr std::int64_t kDefaultGroup = 8;  // of `grouped`
constexpr std::int64_t kDefaultWave = 1;   // of `sawtooth`

struct Grid {
  std::int64_t columns = 0;
  std::int64_t rows = 0;
  std::optional<std::int64_t> group;
  const std::function<double(std::int64_t, std::int64_t)>& cost;
};
using Tiles = std::vector<TileVisit>;

TileVisit tile(std::int64_t x, std::int64_t y) {
  return {.x = static_cast<std::int32_t>(x), .y = static_cast<std::int32_t>(y)};
}

// Blocks of `width` columns, one after another; inside a block x changes fastest.
Tiles column_blocks(const Grid& grid, std::int64_t width) {
  Tiles tiles;
  tiles.reserve(static_cast<std::size_t>(grid.columns * grid.rows));
  for (std::int64_t begin = 0; begin < grid.columns; begin += width)
    for (std::int64_t y = 0; y < grid.rows; ++y)
      for (std::int64_t x = begin; x < std::min(begin + width, grid.columns); ++x)
        tiles.push_back(tile(x, y));
  return tiles;
}

Tiles head_major(const Grid& grid) {
  return column_blocks(grid, grid.columns);
}
Tiles head_minor(const Grid& grid) {
  return column_blocks(grid, 1);
}
Tiles grouped(const Grid& grid) {
  return column_blocks(grid, grid.group.value_or(kDefaultGroup));
}

// Sawtooth wavefront reordering, arXiv 2601.16032, section 4: whoever takes one tile of each wave turns round
// where it ended, and all tiles of a wave walk in one direction.
Tiles sawtooth(const Grid& grid) {
  const std::int64_t wave = grid.group.value_or(kDefaultWave);
  Tiles tiles = head_major(grid);
  for (std::size_t i = 0; i < tiles.size(); ++i)
    tiles[i].keys_backwards = static_cast<std::int64_t>(i) / wave % 2 != 0;
  return tiles;
}

Tiles sawtooth_tile(const Grid& grid) {
  Tiles tiles = head_major(grid);
  for (TileVisit& visit : tiles) visit.keys_backwards = visit.x % 2 != 0;
  return tiles;
}

Tiles along_curve(Curve curve, const Grid& grid) {
  std::vector<std::uint32_t> cells(static_cast<std::size_t>(grid.columns * grid.rows));
  curve(grid.columns, grid.rows, cells);
  Tiles tiles;
  tiles.reserve(cells.size());
  for (const std::uint32_t cell : cells) tiles.push_back(tile(cell % grid.columns, cell / grid.columns));
  return tiles;
}

Tiles hilbert(const Grid& grid) {
  return along_curve(hilbert_curve, grid);
}
Tiles morton(const Grid& grid) {
  return along_curve(morton_curve, grid);
}

// Few heads at a time keep their K and V in the cache.
Tiles longest_first(const Grid& grid) {
  const std::int64_t heads = std::clamp<std::int64_t>(grid.group.value_or(grid.rows), 1, grid.rows);
  struct Costed {
    TileVisit visit;
    std::int64_t group;
    double cost;
  };
  std::vector<Costed> costed;
  for (const TileVisit& visit : head_major(grid))
    costed.push_back({visit, visit.y / heads, grid.cost(visit.x, visit.y)});
  std::stable_sort(costed.begin(), costed.end(), [](const Costed& a, const Costed& b) {
    return a.group != b.group ? a.group < b.group : a.cost > b.cost;
  });
  Tiles tiles;
  tiles.reserve(costed.size());
  for (const Costed& entry : costed) tiles.push_back(entry.visit);
  return tiles;
}

// To add a traversal, add a function above and a line here.
struct Entry {
  TraversalInfo info;
  Tiles (*visit)(const Grid&);
};
constexpr auto kEntries = std::to_array<Entry>({
    {{"auto", "the fastest that is known for the pattern and the kernel", false}, nullptr},
    {{"head_major", "all tiles of a head, then the next head", false}, head_major},
    {{"head_minor", "the same tile of every head, then the next tile", false}, head_minor},
    {{"sawtooth", "head_major, every other wave of W tiles scans its keys backwards (W: tiles at once)",
      true},
     sawtooth},
    {{"sawtooth_tile", "head_major, every other tile scans its keys backwards", false}, sawtooth_tile},
    {{"grouped", "grouped.G: G tiles of each head in turn, then the next G (8 unless given)", true}, grouped},
    {{"hilbert", "Hilbert curve over the grid of tiles and heads", false}, hilbert},
    {{"morton", "Z-order over the grid of tiles and heads", false}, morton},
    {{"longest_first", "tiles with the most keys a query first, for causal masks; .G: G heads at a time",
      true},
     longest_first},
});

constexpr auto kInfos = infos_of(kEntries);

const Entry& entry_of(std::string_view name) {
  return entry_named(kEntries, "traversal", name);
}

void require_grid(std::string_view name, std::int64_t columns, std::int64_t rows) {
  // Tile coordinates are 32-bit.
  constexpr std::int64_t kMaxSide = kMaxTiles - 1;
  if (columns < 0 || rows < 0 || columns > kMaxSide || rows > kMaxSide || columns * rows > kMaxTiles)
    throw UsageError({fmt::format("grid of {} x {} tiles", columns, rows), fmt::format("traversal {}", name),
                      fmt::format("at most {} tiles", kMaxTiles), "try a shorter sequence or fewer heads"});
}

}  // namespace

std::span<const TraversalInfo> traversals() {
  return kInfos;
}

std::vector<TileVisit> traverse(std::string_view name, std::optional<std::int64_t> param,
                                std::int64_t columns, std::int64_t rows,
                                const std::function<double(std::int64_t, std::int64_t)>& cost) {
  const Entry& entry = entry_of(name);
  if (param && !entry.info.has_param)
    throw UsageError({fmt::format("param {} of traversal {}", *param, name), "", "the traversal takes none",
                      fmt::format("write '{}'", name)});
  if (param && (*param < 1 || *param > kMaxGroup))
    throw UsageError({fmt::format("param {} of traversal {}", *param, name), "", "out of range",
                      fmt::format("give 1 to {}", kMaxGroup)});
  if (entry.visit == nullptr)
    throw UsageError(
        {fmt::format("traversal {}", name), "", "it stands for another one", "resolve it first"});
  require_grid(name, columns, rows);
  if (columns == 0 || rows == 0) return {};
  return entry.visit({columns, rows, param, cost});
}

}  // namespace hilbench
