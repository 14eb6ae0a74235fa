#include "kernels/index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "harness/error.hpp"
#include "harness/pattern.hpp"
#include "kernels/orders/order.hpp"

namespace hilbench {
namespace {

constexpr std::int64_t kMaxRows = std::numeric_limits<std::int32_t>::max();

void require_32_bits(std::string_view what, double count) {
  if (count > static_cast<double>(kMaxRows))
    throw UsageError({fmt::format("{} {}", count, what), "index of a variant",
                      "rows are numbered with 32 bits", "use fewer than 2^31"});
}

bool stored_linear(const VariantSpec& variant) {
  return variant.baseline || variant.order_scope == OrderScope::tokens || variant.order == "linear";
}

// Slot of each position; empty where the tensors are stored in position order.
std::vector<std::int32_t> resolved_slots(const Case& work, const VariantSpec& variant) {
  if (stored_linear(variant)) return {};
  const std::vector<std::int64_t> slots = order_slots(order_request(work, variant));
  std::vector<std::int32_t> narrow(slots.size());
  for (std::size_t t = 0; t < slots.size(); ++t) {
    if (slots[t] < 0 || slots[t] >= work.sequence_length)
      throw UsageError({fmt::format("slot {} of position {}", slots[t], t), "order " + variant.order,
                        fmt::format("slots go from 0 to {}", work.sequence_length - 1),
                        "look at `hilbench order " + variant.order + "`"});
    narrow[t] = static_cast<std::int32_t>(slots[t]);
  }
  return narrow;
}

void fill_streams(const Case& work, const Branch& branch, BranchIndex& index) {
  for (std::int64_t g = 0; g < work.kv_heads; ++g) index.offsets.push_back(offset_of(work, branch, g));
  std::sort(index.offsets.begin(), index.offsets.end());
  index.offsets.erase(std::unique(index.offsets.begin(), index.offsets.end()), index.offsets.end());
  for (std::int64_t g = 0; g < work.kv_heads; ++g) {
    const auto at = std::lower_bound(index.offsets.begin(), index.offsets.end(), offset_of(work, branch, g));
    index.stream_of_head.push_back(static_cast<std::int32_t>(at - index.offsets.begin()));
  }
}

void fill_keys(const Case& work, const Branch& branch, const std::vector<std::int32_t>& slots,
               KeyVisit key_visit, BranchIndex& index) {
  index.begin.push_back(0);
  for (const std::int64_t offset : index.offsets) {
    for (std::int64_t segment = 0; segment < index.segments; ++segment) {
      const auto first = static_cast<std::ptrdiff_t>(index.key_position.size());
      const std::int64_t end = segment_end(work, branch, segment);
      for (std::int64_t t = segment_begin(branch, segment) + offset; t < end; t += branch.dilation)
        index.key_position.push_back(static_cast<std::int32_t>(t));
      if (key_visit == KeyVisit::slot && !slots.empty())
        std::sort(index.key_position.begin() + first, index.key_position.end(), [&](auto a, auto b) {
          return slots[static_cast<std::size_t>(a)] < slots[static_cast<std::size_t>(b)];
        });
      index.begin.push_back(static_cast<std::int64_t>(index.key_position.size()));
    }
  }
  index.key_slot = index.key_position;
  if (!slots.empty())
    for (std::int32_t& slot : index.key_slot) slot = slots[static_cast<std::size_t>(slot)];
}

// K/V head's stream of grid row `y`.
std::size_t stream_of_row(const Case& work, const BranchIndex& index, std::int32_t y) {
  const std::int64_t head = index.y_head[static_cast<std::size_t>(y)] % work.heads;
  return static_cast<std::size_t>(index.stream_of_head[static_cast<std::size_t>(kv_head_of(work, head))]);
}

TileQueries queries_of(const Case& work, const Branch& branch, const BranchIndex& index, std::int64_t x,
                       std::int32_t y) {
  const std::int64_t segment = x / index.tiles_per_segment;
  const std::int64_t begin = segment_begin(branch, segment);
  const std::int64_t length = segment_end(work, branch, segment) - begin;
  const std::int64_t offset = index.offsets[stream_of_row(work, index, y)];
  const std::int64_t row = x % index.tiles_per_segment * index.tile_rows;
  const std::int64_t count =
      std::clamp<std::int64_t>(query_count(work, length, offset, branch.dilation) - row, 0, index.tile_rows);
  if (work.queries == Queries::dense) return {begin + row, 1, count};
  return {begin + offset + row * branch.dilation, branch.dilation, count};
}

// Unmasked pairs of a tile.
double tile_pairs(const Case& work, const Branch& branch, const BranchIndex& index, std::int64_t x,
                  std::int32_t y) {
  const TileQueries queries = queries_of(work, branch, index, x, y);
  const std::int64_t segment = x / index.tiles_per_segment;
  const std::int64_t begin = segment_begin(branch, segment);
  const std::int64_t length = segment_end(work, branch, segment) - begin;
  const std::int64_t offset = index.offsets[stream_of_row(work, index, y)];
  if (work.mask == Mask::full)
    return static_cast<double>(queries.count * selected_count(length, offset, branch.dilation));
  double pairs = 0;
  for (std::int64_t i = 0; i < queries.count; ++i)
    pairs += static_cast<double>(
        selected_count(queries.first + i * queries.step - begin + 1, offset, branch.dilation));
  return pairs;
}

void fill_tiles(const Case& work, std::int64_t branch_index, const VariantSpec& variant, BranchIndex& index) {
  for (std::int64_t b = 0; b < work.batch; ++b)
    for (std::int64_t head = 0; head < work.heads; ++head)
      if (head_runs_branch(work, head, branch_index))
        index.y_head.push_back(static_cast<std::int32_t>(b * work.heads + head));
  if (index.y_head.empty()) return;
  const Branch& branch = work.pattern[static_cast<std::size_t>(branch_index)];
  index.tiles = traverse(variant.traversal, variant.traversal_param, index.segments * index.tiles_per_segment,
                         static_cast<std::int64_t>(index.y_head.size()), [&](std::int64_t x, std::int64_t y) {
                           return tile_pairs(work, branch, index, x, static_cast<std::int32_t>(y));
                         });
  std::erase_if(index.tiles, [&](const TileVisit& tile) {
    return queries_of(work, branch, index, tile.x, tile.y).count == 0;
  });
}

std::int64_t tiles_per_segment(const Case& work, const Branch& branch, std::int64_t tile_rows) {
  const std::int64_t length = std::min(branch.segment_length, work.sequence_length);
  return (query_count(work, length, 0, branch.dilation) + tile_rows - 1) / tile_rows;
}

// Of all branches of an index, at most.
struct IndexSize {
  double keys = 0, tiles = 0;
  double other_bytes = 0;  // offsets, begins, heads
};

IndexSize index_size(const Case& work, std::int64_t tile_rows) {
  IndexSize size;
  const auto branches = static_cast<std::int64_t>(work.pattern.size());
  const std::int64_t heads =
      work.branch_heads == BranchHeads::all ? work.heads : (work.heads + branches - 1) / branches;
  const double rows = static_cast<double>(work.batch) * static_cast<double>(heads);
  for (const Branch& branch : work.pattern) {
    const auto segments = static_cast<double>(segment_count(work, branch));
    const bool one_stream = work.head_offset == HeadOffset::none;
    const auto streams = static_cast<double>(one_stream ? 1 : std::min(branch.dilation, work.kv_heads));
    const std::int64_t length = std::min(branch.segment_length, work.sequence_length);
    size.keys += streams * segments * static_cast<double>(selected_count(length, 0, branch.dilation));
    size.tiles += rows * segments * static_cast<double>(tiles_per_segment(work, branch, tile_rows));
    size.other_bytes += 8 * streams * (segments + 2) + 4 * (static_cast<double>(work.kv_heads) + rows);
  }
  return size;
}

}  // namespace

Index build_index(const Case& work, const VariantSpec& variant, std::int64_t tile_rows) {
  require_32_bits("positions", static_cast<double>(work.sequence_length));
  require_32_bits("rows of batch and heads",
                  static_cast<double>(work.batch) * static_cast<double>(work.heads));
  Index index;
  index.k_slots = resolved_slots(work, variant);
  if (variant.order_tensors == OrderTensors::qkv) index.q_slots = index.k_slots;
  const auto branches = static_cast<std::int64_t>(work.pattern.size());
  for (std::int64_t b = 0; b < branches; ++b) {
    const Branch& branch = work.pattern[static_cast<std::size_t>(b)];
    BranchIndex& one = index.branches.emplace_back();
    one.segments = segment_count(work, branch);
    one.tile_rows = tile_rows;
    one.tiles_per_segment = tiles_per_segment(work, branch, tile_rows);
    fill_streams(work, branch, one);
    fill_keys(work, branch, index.k_slots, variant.key_visit, one);
    fill_tiles(work, b, variant, one);
  }
  return index;
}

TileQueries tile_queries(const Case& work, const Index& index, std::size_t branch_index,
                         const TileVisit& tile) {
  return queries_of(work, work.pattern[branch_index], index.branches[branch_index], tile.x, tile.y);
}

double index_bytes(const Case& work, const VariantSpec& variant, std::int64_t tile_rows) {
  const IndexSize size = index_size(work, tile_rows);
  double bytes = stored_linear(variant) ? 0 : 4 * static_cast<double>(work.sequence_length);
  if (variant.order_tensors == OrderTensors::qkv) bytes *= 2;
  return bytes + size.other_bytes + 8 * size.keys + static_cast<double>(sizeof(TileVisit)) * size.tiles;
}

double device_index_bytes(const Case& work, const VariantSpec& variant, std::int64_t tile_rows) {
  const IndexSize size = index_size(work, tile_rows);
  const bool linear = stored_linear(variant);
  const bool by_slot = !linear && variant.key_visit == KeyVisit::slot && work.mask == Mask::causal;
  const bool q_slots = !linear && variant.order_tensors == OrderTensors::qkv;
  return static_cast<double>(kDeviceTileBytes) * size.tiles + (linear ? 0 : 4 * size.keys) +
         (by_slot ? 4 * size.keys : 0) + (q_slots ? 4 * static_cast<double>(work.sequence_length) : 0);
}

TileReads tile_reads(const Case& work, const Index& index, std::int64_t limit) {
  TileReads reads;
  reads.tile_begin.push_back(0);
  const auto branches = static_cast<std::int64_t>(index.branches.size());
  for (std::size_t b = 0; b < index.branches.size(); ++b) {
    const BranchIndex& branch = index.branches[b];
    const std::int64_t share_end = limit * (static_cast<std::int64_t>(b) + 1) / branches;
    for (const TileVisit& tile : branch.tiles) {
      if (branch.y_head[static_cast<std::size_t>(tile.y)] != 0) continue;
      if (static_cast<std::int64_t>(reads.visits.size()) >= share_end) break;
      const std::size_t row =
          stream_of_row(work, branch, tile.y) * static_cast<std::size_t>(branch.segments) +
          static_cast<std::size_t>(tile.x / branch.tiles_per_segment);
      const std::int64_t last_query = tile_queries(work, index, b, tile).last();
      const auto first_visit = static_cast<std::ptrdiff_t>(reads.visits.size());
      for (std::int64_t i = branch.begin[row]; i < branch.begin[row + 1]; ++i) {
        const auto key = static_cast<std::size_t>(i);
        if (work.mask == Mask::full || branch.key_position[key] <= last_query)
          reads.visits.push_back(branch.key_slot[key]);
      }
      if (tile.keys_backwards) std::reverse(reads.visits.begin() + first_visit, reads.visits.end());
      reads.tile_begin.push_back(static_cast<std::int64_t>(reads.visits.size()));
    }
  }
  return reads;
}

}  // namespace hilbench
