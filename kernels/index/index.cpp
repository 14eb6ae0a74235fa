#include "kernels/index/index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "kernels/base/text/error.hpp"
#include "kernels/case/pattern.hpp"
#include "kernels/index/tile_grid.hpp"
#include "kernels/orders/order.hpp"

namespace hilbench {
namespace {

constexpr std::int64_t kMaxRows = std::numeric_limits<std::int32_t>::max();

void require_32_bits(std::string_view what, double count) {
  if (count > static_cast<double>(kMaxRows))
    throw UsageError({fmt::format("{} {}", count, what), "index of a variant",
                      "rows are numbered with 32 bits", "use fewer than 2^31"});
}

bool stored_linear(const KernelChoice& choice) {
  return choice.order_scope != OrderScope::memory || choice.order == "linear";
}

// A branch cut into streams, segments and tiles.
struct Cut {
  const Case& work;
  const Branch& branch;
  std::size_t number = 0;  // of the branch
  std::int64_t tile_rows = 0;
  std::int64_t segments = 0;
  std::int64_t tiles_per_segment = 0;       // of the longest segment, for offset 0
  std::vector<std::int64_t> offsets;        // offset o of each stream, ascending
  std::vector<std::size_t> stream_of_head;  // [kv_heads]: index into `offsets`
};

void fill_streams(Cut& cut) {
  const Case& work = cut.work;
  for (std::int64_t g = 0; g < work.kv_heads; ++g) cut.offsets.push_back(offset_of(work, cut.number, g));
  std::sort(cut.offsets.begin(), cut.offsets.end());
  cut.offsets.erase(std::unique(cut.offsets.begin(), cut.offsets.end()), cut.offsets.end());
  for (std::int64_t g = 0; g < work.kv_heads; ++g) {
    const auto at = std::lower_bound(cut.offsets.begin(), cut.offsets.end(), offset_of(work, cut.number, g));
    cut.stream_of_head.push_back(static_cast<std::size_t>(at - cut.offsets.begin()));
  }
}

std::int64_t tiles_per_segment(const Case& work, const Branch& branch, std::int64_t tile_rows) {
  const std::int64_t length = std::min(branch.segment_length, work.sequence_length);
  return (query_count(work, length, 0, branch.dilation) + tile_rows - 1) / tile_rows;
}

Cut cut_branch(const Case& work, std::size_t number, std::int64_t tile_rows) {
  const Branch& branch = work.pattern[number];
  Cut cut{.work = work,
          .branch = branch,
          .number = number,
          .tile_rows = tile_rows,
          .segments = segment_count(work, branch),
          .tiles_per_segment = tiles_per_segment(work, branch, tile_rows)};
  fill_streams(cut);
  return cut;
}

void fill_keys(const Cut& cut, const std::vector<std::int32_t>& slots, KeyVisit key_visit,
               BranchIndex& index) {
  const bool by_slot = key_visit == KeyVisit::slot && !slots.empty();
  const bool dropout = drops(dropout_of(cut.work));
  index.begin.push_back(0);
  for (const std::int64_t offset : cut.offsets) {
    for (std::int64_t segment = 0; segment < cut.segments; ++segment) {
      const auto first = static_cast<std::ptrdiff_t>(index.key_position.size());
      const std::int64_t end = segment_end(cut.work, cut.branch, segment);
      for (std::int64_t t = segment_begin(cut.branch, segment) + offset; t < end; t += cut.branch.dilation)
        index.key_position.push_back(static_cast<std::int32_t>(t));
      if (by_slot) {
        const auto list = index.key_position.begin() + first;
        std::sort(list, index.key_position.end(), [&](auto a, auto b) {
          return slots[static_cast<std::size_t>(a)] < slots[static_cast<std::size_t>(b)];
        });
        index.keys_by_step = index.keys_by_step && std::is_sorted(list, index.key_position.end());
        for (auto t = list; dropout && t != index.key_position.end(); ++t)
          index.key_ordinal.push_back(
              static_cast<std::int32_t>(key_ordinal(cut.work, static_cast<std::int64_t>(cut.number), *t)));
      }
      index.begin.push_back(static_cast<std::int64_t>(index.key_position.size()));
    }
  }
  index.key_step =
      static_cast<std::int32_t>(std::min<std::int64_t>(cut.branch.dilation, cut.work.sequence_length));
  index.key_slot = index.key_position;
  if (!slots.empty())
    for (std::int32_t& slot : index.key_slot) slot = slots[static_cast<std::size_t>(slot)];
}

// Number of keys of a segment, at o + j * r inside it, up to `position`.
std::int32_t keys_up_to(const Cut& cut, std::int64_t offset, std::int64_t position) {
  return static_cast<std::int32_t>(
      selected_count(position % cut.branch.segment_length + 1, offset, cut.branch.dilation));
}

// Tile `tile` of a segment for the heads of a stream; it has no queries if the segment has fewer tiles.
IndexTile tile_of(const Cut& cut, const BranchIndex& index, std::size_t stream, std::int64_t segment,
                  std::int64_t tile) {
  const Case& work = cut.work;
  const std::int64_t offset = cut.offsets[stream], dilation = cut.branch.dilation;
  const std::int64_t begin = segment_begin(cut.branch, segment);
  const std::int64_t length = segment_end(work, cut.branch, segment) - begin;
  const std::int64_t first = tile * cut.tile_rows;
  const bool dense = work.queries == Queries::dense;
  IndexTile made;
  made.query_count = static_cast<std::int32_t>(
      std::clamp<std::int64_t>(query_count(work, length, offset, dilation) - first, 0, cut.tile_rows));
  if (made.query_count == 0) return made;
  made.query_step = dense ? 1 : index.key_step;
  made.query_row = static_cast<std::int32_t>(begin + (dense ? first : offset + first * dilation));
  const std::size_t list =
      stream * static_cast<std::size_t>(cut.segments) + static_cast<std::size_t>(segment);
  made.key_begin = index.begin[list];
  made.key_count = made.unmasked = static_cast<std::int32_t>(index.begin[list + 1] - index.begin[list]);
  if (work.mask == Mask::full) return made;
  made.unmasked = index.keys_by_step ? keys_up_to(cut, offset, made.query_row) : 0;
  if (index.keys_by_step) made.key_count = keys_up_to(cut, offset, made.last_row());
  return made;
}

// Unmasked pairs of a tile.
double tile_pairs(const Cut& cut, const BranchIndex& index, const IndexTile& tile) {
  if (cut.work.mask == Mask::full || tile.key_count == 0)
    return static_cast<double>(tile.query_count) * tile.key_count;
  const std::int64_t any_key = index.key_position[static_cast<std::size_t>(tile.key_begin)];
  const std::int64_t offset = any_key % cut.branch.segment_length % cut.branch.dilation;
  double pairs = 0;
  for (std::int64_t i = 0; i < tile.query_count; ++i)
    pairs += keys_up_to(cut, offset, tile.query_row + i * tile.query_step);
  return pairs;
}

void fill_tiles(const Cut& cut, std::int64_t branch, const Traversal& traversal, BranchIndex& index) {
  TileGrid grid{.rows = grid_rows(cut.work, branch, cut.stream_of_head),
                .columns = cut.segments * cut.tiles_per_segment};
  if (grid.rows.empty()) return;
  for (std::size_t stream = 0; stream < cut.offsets.size(); ++stream)
    for (std::int64_t segment = 0; segment < cut.segments; ++segment)
      for (std::int64_t tile = 0; tile < cut.tiles_per_segment; ++tile)
        grid.tiles.push_back(tile_of(cut, index, stream, segment, tile));
  index.tiles =
      visited_tiles(grid, traversal, [&](const IndexTile& tile) { return tile_pairs(cut, index, tile); });
}

// Upper bounds over all branches of an index.
struct IndexSize {
  double keys = 0, tiles = 0;
  double other_bytes = 0;  // of the begins of lists
};

IndexSize index_size(const Case& work, std::int64_t tile_rows) {
  IndexSize size;
  const auto branches = static_cast<std::int64_t>(work.pattern.size());
  const std::int64_t heads =
      work.branch_heads == BranchHeads::all ? work.heads : (work.heads + branches - 1) / branches;
  const double rows = static_cast<double>(work.batch) * static_cast<double>(heads);
  for (const Branch& branch : work.pattern) {
    const auto segments = static_cast<double>(segment_count(work, branch));
    const bool one_stream = work.head_offset == HeadOffset::none || work.head_offset == HeadOffset::branch;
    const auto streams = static_cast<double>(one_stream ? 1 : std::min(branch.dilation, work.kv_heads));
    const std::int64_t length = std::min(branch.segment_length, work.sequence_length);
    size.keys += streams * segments * static_cast<double>(selected_count(length, 0, branch.dilation));
    size.tiles += rows * segments * static_cast<double>(tiles_per_segment(work, branch, tile_rows));
    size.other_bytes += 8 * (streams * segments + 1);
  }
  return size;
}

}  // namespace

std::vector<std::int32_t> stored_slots(const Case& work, const KernelChoice& choice) {
  if (stored_linear(choice)) return {};
  const std::vector<std::int64_t> slots = order_slots(order_request(work, choice));
  std::vector<std::int32_t> narrow(slots.size());
  for (std::size_t t = 0; t < slots.size(); ++t) {
    if (slots[t] < 0 || slots[t] >= work.sequence_length)
      throw UsageError({fmt::format("slot {} of position {}", slots[t], t), "order " + choice.order,
                        fmt::format("slots go from 0 to {}", work.sequence_length - 1),
                        "look at `hilbench order " + choice.order + "`"});
    narrow[t] = static_cast<std::int32_t>(slots[t]);
  }
  return narrow;
}

Index build_index(const Case& work, const KernelChoice& choice, std::int64_t tile_rows,
                  const TraversalFacts& facts) {
  require_32_bits("positions", static_cast<double>(work.sequence_length));
  require_32_bits("rows of batch and heads",
                  static_cast<double>(work.batch) * static_cast<double>(work.heads));
  Index index{.q_rows = work.sequence_length, .kv_rows = work.sequence_length};
  index.k_slots = stored_slots(work, choice);
  if (choice.order_tensors == OrderTensors::qkv) index.q_slots = index.k_slots;
  const auto branches = static_cast<std::int64_t>(work.pattern.size());
  for (std::int64_t b = 0; b < branches; ++b) {
    const Cut cut = cut_branch(work, static_cast<std::size_t>(b), tile_rows);
    BranchIndex& branch = index.branches.emplace_back();
    fill_keys(cut, index.k_slots, choice.key_visit, branch);
    fill_tiles(cut, b, traversal_of(work, cut.branch, choice, facts), branch);
  }
  return index;
}

double index_tiles(const Case& work, std::int64_t tile_rows) {
  return index_size(work, tile_rows).tiles;
}

double index_bytes(const Case& work, const KernelChoice& choice, std::int64_t tile_rows) {
  const IndexSize size = index_size(work, tile_rows);
  double bytes = stored_linear(choice) ? 0 : 4 * static_cast<double>(work.sequence_length);
  if (choice.order_tensors == OrderTensors::qkv) bytes *= 2;
  const bool ordinals = choice.key_visit == KeyVisit::slot && drops(dropout_of(work));
  return bytes + size.other_bytes + (ordinals ? 12 : 8) * size.keys +
         static_cast<double>(sizeof(IndexTile)) * size.tiles;
}

double device_index_bytes(const Case& work, const KernelChoice& choice, std::int64_t tile_rows) {
  const IndexSize size = index_size(work, tile_rows);
  const bool linear = stored_linear(choice);
  const bool by_slot = !linear && choice.key_visit == KeyVisit::slot && work.mask == Mask::causal;
  const bool ordinals = !linear && choice.key_visit == KeyVisit::slot && drops(dropout_of(work));
  const bool q_slots = !linear && choice.order_tensors == OrderTensors::qkv;
  return static_cast<double>(kDeviceTileBytes) * size.tiles + (linear ? 0 : 4 * size.keys) +
         (by_slot ? 4 * size.keys : 0) + (ordinals ? 4 * size.keys : 0) +
         (q_slots ? 4 * static_cast<double>(work.sequence_length) : 0);
}

TileReads tile_reads(const Case& work, const Index& index, std::int64_t limit) {
  TileReads reads;
  reads.tile_begin.push_back(0);
  const auto branches = static_cast<std::int64_t>(index.branches.size());
  for (std::size_t b = 0; b < index.branches.size(); ++b) {
    const BranchIndex& branch = index.branches[b];
    const std::int64_t share_end = limit * (static_cast<std::int64_t>(b) + 1) / branches;
    for (const IndexTile& tile : branch.tiles) {
      if (tile.batch != 0 || tile.head != 0) continue;
      if (static_cast<std::int64_t>(reads.visits.size()) >= share_end) break;
      const auto first_visit = static_cast<std::ptrdiff_t>(reads.visits.size());
      for (std::int64_t i = tile.key_begin; i < tile.key_begin + tile.key_count; ++i) {
        const auto key = static_cast<std::size_t>(i);
        if (work.mask == Mask::full || branch.key_position.empty() ||
            branch.key_position[key] <= tile.last_row())
          reads.visits.push_back(branch.key_slot[key]);
      }
      if (tile.keys_backwards) std::reverse(reads.visits.begin() + first_visit, reads.visits.end());
      reads.tile_begin.push_back(static_cast<std::int64_t>(reads.visits.size()));
    }
  }
  return reads;
}

}  // namespace hilbench
