#include "kernels/windows/case_index.hpp"

#include <algorithm>

#include "kernels/index/tile_grid.hpp"
#include "kernels/windows/fullest_blocks.hpp"
#include "kernels/windows/mask_store.hpp"

namespace hilbench {
namespace {

std::int64_t blocks_of(std::int64_t keys) {
  return (keys + kMaskedKeys - 1) / kMaskedKeys;
}

// Number of keys of each tile.
std::vector<std::int64_t> key_counts(const WindowTiles& tiles) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(tiles.size()));
#pragma omp parallel
  {
    WindowTiles::Reader reader(tiles);
#pragma omp for schedule(dynamic, 16)
    for (std::int64_t tile = 0; tile < tiles.size(); ++tile)
      counts[static_cast<std::size_t>(tile)] = tiles.count_keys(tile, reader);
  }
  return counts;
}

// Tiles without what depends on batch and head, and room for their blocks.
std::vector<IndexTile> lay_out(const WindowTiles& tiles, const std::vector<std::int64_t>& key_counts,
                               BranchIndex& branch) {
  std::vector<IndexTile> laid;
  std::int64_t keys = 0, blocks = 0;
  branch.begin.push_back(0);
  branch.block_begin.push_back(0);
  for (const std::int64_t count : key_counts) {
    const std::int64_t tile = std::ssize(laid);
    IndexTile& made = laid.emplace_back();
    made.query_row = static_cast<std::int32_t>(tile * kMaskedRows);
    made.query_count = tiles.query_count(tile);
    made.key_begin = keys;
    made.key_count = made.unmasked = static_cast<std::int32_t>(count);
    keys += count;
    blocks += blocks_of(count);
    branch.begin.push_back(keys);
    branch.block_begin.push_back(blocks);
  }
  branch.mask_of_block.resize(static_cast<std::size_t>(blocks));
  return laid;
}

void fill_lists(const WindowTiles& tiles, const std::vector<IndexTile>& laid, BranchIndex& branch) {
  branch.key_slot.resize(static_cast<std::size_t>(branch.begin.back()));
  MaskStore store(branch.mask_of_block.size());
#pragma omp parallel
  {
    WindowTiles::Reader reader(tiles);
    BlockMask mask;
#pragma omp for schedule(dynamic, 16)
    for (std::int64_t i = 0; i < tiles.size(); ++i) {
      const IndexTile& tile = laid[static_cast<std::size_t>(i)];
      tiles.read(i, reader);
      std::copy(reader.slots.begin(), reader.slots.end(), branch.key_slot.begin() + tile.key_begin);
      auto block = branch.mask_of_block.begin() + branch.block_begin[static_cast<std::size_t>(i)];
      for (std::size_t first = 0; first < reader.slots.size(); first += kMaskedKeys)
        *block++ = tiles.read_mask(reader, first, mask) ? store.number_of(mask) : kUnmasked;
    }
  }
  branch.masks = store.masks();
}

std::vector<IndexTile> all_contents(const WindowTiles& tiles, BranchIndex& branch) {
  std::vector<IndexTile> laid = lay_out(tiles, key_counts(tiles), branch);
  fill_lists(tiles, laid, branch);
  return laid;
}

// What IndexContents::shape says of one list.
struct ListShape {
  std::int64_t keys = 0, fullest_block = 0;
  std::vector<std::int32_t> masks;  // as mask_of_block
};

ListShape shape_of(const WindowTiles& tiles, const WindowTiles::Reader& reader) {
  ListShape shape{.keys = std::ssize(reader.slots)};
  BlockMask mask;
  int most = -1;
  for (std::size_t first = 0; first < reader.slots.size(); first += kMaskedKeys) {
    const bool masked = tiles.read_mask(reader, first, mask);
    const int rows = masked ? rows_that_see(mask) : static_cast<int>(kMaskedRows);
    if (first + kMaskedKeys <= reader.slots.size() && rows > most) {
      most = rows;
      shape.fullest_block = std::ssize(shape.masks);
    }
    shape.masks.push_back(masked ? 0 : kUnmasked);
  }
  return shape;
}

std::vector<IndexTile> only_shape(const WindowTiles& tiles, BranchIndex& branch) {
  std::vector<ListShape> shapes(static_cast<std::size_t>(tiles.size()));
#pragma omp parallel
  {
    WindowTiles::Reader reader(tiles);
#pragma omp for schedule(dynamic, 16)
    for (std::size_t tile = 0; tile < shapes.size(); ++tile) {
      tiles.read(static_cast<std::int64_t>(tile), reader);
      shapes[tile] = shape_of(tiles, reader);
    }
  }
  std::vector<std::int64_t> counts;
  for (const ListShape& shape : shapes) counts.push_back(shape.keys);
  std::vector<IndexTile> laid = lay_out(tiles, counts, branch);
  auto mask = branch.mask_of_block.begin();
  for (const ListShape& shape : shapes) {
    mask = std::copy(shape.masks.begin(), shape.masks.end(), mask);
    branch.fullest_block.push_back(shape.fullest_block);
  }
  return laid;
}

Index window_index(const Case& work, const KernelChoice& choice, const TraversalFacts& facts,
                   IndexContents contents) {
  const WindowTiles tiles(work, choice);
  Index index{.q_rows = work.sequence_length, .kv_rows = work.sequence_length};
  index.k_slots = tiles.k_slots();
  if (choice.order_tensors == OrderTensors::qkv) index.q_slots = index.k_slots;
  BranchIndex& branch = index.branches.emplace_back();
  branch.query_rows = tiles.query_rows();
  TileGrid grid{
      .rows = grid_rows(work, 0, std::vector<std::size_t>(static_cast<std::size_t>(work.kv_heads))),
      .columns = tiles.size(),
      .tiles = contents == IndexContents::all ? all_contents(tiles, branch) : only_shape(tiles, branch)};
  branch.tiles = visited_tiles(
      grid, traversal_of(work, work.pattern.front(), choice, facts),
      [](const IndexTile& tile) { return static_cast<double>(tile.query_count) * tile.key_count; });
  return index;
}

}  // namespace

Index case_index(const Case& work, const KernelChoice& choice, std::int64_t tile_rows,
                 const TraversalFacts& facts, IndexContents contents) {
  return has_windows(work) ? window_index(work, choice, facts, contents)
                           : build_index(work, choice, tile_rows, facts);
}

double case_index_bytes(const Case& work, const KernelChoice& choice, std::int64_t tile_rows,
                        const std::optional<TileCounts>& counts) {
  if (!has_windows(work)) return index_bytes(work, choice, tile_rows);
  const auto positions = static_cast<double>(work.sequence_length);
  const double heads = static_cast<double>(work.batch) * static_cast<double>(work.heads);
  const double tiles = (positions + kMaskedRows - 1) / kMaskedRows * (heads + 1);
  double bytes = tiles * static_cast<double>(sizeof(IndexTile)) + 16 * (positions / kMaskedRows + 2);
  if (choice.order != "linear") bytes += 12 * positions;  // slots of K and Q, rows of Q
  if (!counts) return bytes;
  return bytes + 4 * static_cast<double>(counts->keys) + 4 * static_cast<double>(counts->blocks) +
         static_cast<double>(sizeof(BlockMask)) * static_cast<double>(counts->masks);
}

double case_device_index_bytes(const Case& work, const KernelChoice& choice, std::int64_t tile_rows,
                               const std::optional<TileCounts>& counts) {
  if (!has_windows(work)) return device_index_bytes(work, choice, tile_rows);
  const auto positions = static_cast<double>(work.sequence_length);
  const double heads = static_cast<double>(work.batch) * static_cast<double>(work.heads);
  double bytes = (positions / kMaskedRows + 1) * heads * static_cast<double>(kDeviceTileBytes);
  if (choice.order_tensors == OrderTensors::qkv) bytes += 4 * positions;  // rows of Q
  if (!counts) return bytes;
  // Blocks have a mask's number each and may be listed; a short block may add a mask of its own.
  const double masks = static_cast<double>(counts->masks) + kMaskedKeys;
  return bytes + 4 * static_cast<double>(counts->keys) + 8 * static_cast<double>(counts->blocks) +
         static_cast<double>(sizeof(BlockMask)) * masks;
}

}  // namespace hilbench
