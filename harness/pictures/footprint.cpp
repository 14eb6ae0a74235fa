#include "harness/pictures/footprint.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "kernels/case/windows.hpp"
#include "kernels/windows/window_tiles.hpp"

namespace hilbench {
namespace {

constexpr std::int64_t kMostTilesRead = 129;

// The number of the tile that reads the median number of keys.
std::int64_t typical_tile(const WindowTiles& tiles) {
  WindowTiles::Reader reader(tiles);
  std::vector<std::pair<std::size_t, std::int64_t>> sizes;
  const std::int64_t read = std::min(tiles.size(), kMostTilesRead);
  for (std::int64_t i = 0; i < read; ++i) {
    const std::int64_t tile = i * tiles.size() / read;
    tiles.read(tile, reader);
    sizes.emplace_back(reader.slots.size(), tile);
  }
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  const std::size_t median = middle->first;
  // Of those that read as many, the one nearest to the middle of the sequence.
  const auto apart = [&](const auto& size) { return std::abs(2 * size.second - tiles.size()); };
  std::erase_if(sizes, [&](const auto& size) { return size.first != median; });
  return std::ranges::min_element(sizes, {}, apart)->second;
}

std::vector<std::int64_t> positions_of(std::span<const std::int32_t> slots,
                                       const std::vector<std::int32_t>& k_slots) {
  std::vector<std::int64_t> positions(slots.begin(), slots.end());
  if (!k_slots.empty()) {
    std::vector<std::int64_t> at(k_slots.size());
    for (std::size_t position = 0; position < k_slots.size(); ++position)
      at[static_cast<std::size_t>(k_slots[position])] = static_cast<std::int64_t>(position);
    for (std::int64_t& slot : positions) slot = at[static_cast<std::size_t>(slot)];
  }
  std::ranges::sort(positions);
  return positions;
}

std::vector<std::int64_t> queries_of(const WindowTiles& tiles, std::int64_t tile) {
  std::vector<std::int64_t> queries;
  for (std::int32_t i = 0; i < tiles.query_count(tile); ++i) {
    const std::int64_t slot = tile * kMaskedRows + i;
    queries.push_back(tiles.query_rows().empty() ? slot : tiles.query_rows()[static_cast<std::size_t>(slot)]);
  }
  std::ranges::sort(queries);
  return queries;
}

std::vector<std::int64_t> coordinates_of(std::int64_t position, std::span<const std::int64_t> grid) {
  std::vector<std::int64_t> coordinates(grid.size());
  for (std::size_t d = grid.size(); d-- > 0; position /= grid[d]) coordinates[d] = position % grid[d];
  return coordinates;
}

// The query nearest to the middle of all.
std::int64_t central_query(std::span<const std::int64_t> queries, std::span<const std::int64_t> grid) {
  std::vector<double> middle(grid.size());
  for (const std::int64_t query : queries) {
    const std::vector<std::int64_t> at = coordinates_of(query, grid);
    for (std::size_t d = 0; d < grid.size(); ++d)
      middle[d] += static_cast<double>(at[d]) / static_cast<double>(queries.size());
  }
  const auto distance = [&](std::int64_t query) {
    double sum = 0;
    const std::vector<std::int64_t> at = coordinates_of(query, grid);
    for (std::size_t d = 0; d < grid.size(); ++d) {
      const double apart = static_cast<double>(at[d]) - middle[d];
      sum += apart * apart;
    }
    return sum;
  };
  return *std::ranges::min_element(queries, {}, distance);
}

// The positions of the box; dimensions that the grid lacks have one coordinate.
void add_box(const KeyBox& box, std::span<const std::int64_t> grid, std::vector<std::int64_t>& positions) {
  std::vector<std::int64_t> begun = {0};
  for (std::size_t d = 0; d < grid.size(); ++d) {
    std::vector<std::int64_t> next;
    for (const std::int64_t start : begun)
      for (std::int64_t i = 0; i < box[d].count; ++i)
        next.push_back(start * grid[d] + box[d].first + i * box[d].step);
    begun = std::move(next);
  }
  positions.insert(positions.end(), begun.begin(), begun.end());
}

}  // namespace

Footprint footprint_of(const Case& work, const KernelChoice& choice,
                       std::optional<double> computed_over_needed) {
  const WindowTiles tiles(work, choice);
  const std::vector<std::int64_t> grid = grid_of(work);
  const std::int64_t tile = typical_tile(tiles);
  Footprint footprint{.queries = queries_of(tiles, tile), .keys = {}, .needed = {}};
  WindowTiles::Reader reader(tiles);
  tiles.read(tile, reader);
  footprint.keys = positions_of(reader.slots, tiles.k_slots());
  for (const KeyBox& box : visible_boxes(work, central_query(footprint.queries, grid)))
    add_box(box, grid, footprint.needed);
  std::ranges::sort(footprint.needed);
  footprint.computed_over_needed =
      computed_over_needed ? *computed_over_needed : count_tiles(tiles).computed / window_pairs(work);
  return footprint;
}

}  // namespace hilbench
