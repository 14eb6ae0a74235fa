#include "kernels/ring/ring_index.hpp"

#include <algorithm>
#include <numeric>

#include "kernels/case/pattern.hpp"
#include "kernels/ring/piece_branch.hpp"
#include "kernels/ring/rank_case.hpp"
#include "kernels/ring/shard_keys.hpp"

namespace hilbench {
namespace {

// Tiles without keys: before any branch is computed, they set O = 0 and LSE = -infinity in rows that the
// first branch of a head does not select.
BranchIndex clearing_tiles(const Ring& ring, std::int64_t rank, std::int64_t tile_rows) {
  const Case& work = ring.work();
  const std::int64_t rows = ring.shards().count(rank);
  BranchIndex clearing{.begin = {0}};
  for (std::int64_t b = 0; b < work.batch; ++b)
    for (std::int64_t head = 0; head < work.heads; ++head) {
      if (work.queries == Queries::dense || work.pattern[first_branch(work, head)].dilation == 1) continue;
      for (std::int64_t row = 0; row < rows; row += tile_rows)
        clearing.tiles.push_back({.query_row = static_cast<std::int32_t>(row),
                                  .query_count = static_cast<std::int32_t>(std::min(tile_rows, rows - row)),
                                  .batch = static_cast<std::int32_t>(b),
                                  .head = static_cast<std::int32_t>(head),
                                  .kv_head = static_cast<std::int32_t>(kv_head_of(work, head))});
    }
  return clearing;
}

std::vector<std::int32_t> positions_of_rows(const Ring& ring, std::int64_t rank) {
  std::vector<std::int32_t> positions;
  for (std::int64_t row = 0; row < ring.shards().count(rank); ++row)
    positions.push_back(static_cast<std::int32_t>(ring.shards().position(rank, row)));
  return positions;
}

// Moves values[i] to values[slots[i]].
std::vector<std::int32_t> put_into(const std::vector<std::int32_t>& slots,
                                   const std::vector<std::int32_t>& values) {
  if (slots.empty()) return values;
  std::vector<std::int32_t> stored(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) stored[static_cast<std::size_t>(slots[i])] = values[i];
  return stored;
}

// The row of each position if the ranks' rows stand one rank after another; empty if that is the position.
template <class Stored>
std::vector<std::int32_t> rows_of_positions(const Ring& ring, const Stored& stored_positions) {
  std::vector<std::int32_t> rows(static_cast<std::size_t>(ring.work().sequence_length));
  std::int32_t row = 0;
  bool linear = true;
  for (std::int64_t rank = 0; rank < ring.ranks(); ++rank)
    for (const std::int32_t position : stored_positions(ring, rank)) {
      linear = linear && row == position;
      rows[static_cast<std::size_t>(position)] = row++;
    }
  return linear ? std::vector<std::int32_t>{} : rows;
}

// Keeps the tiles of a part of the heads of a rank, and numbers them from 0.
void keep_heads(const Ring& ring, std::int64_t rank, std::int64_t part, BranchIndex& branch) {
  const std::int64_t number = rank * ring.head_parts() + part;
  const std::int64_t heads = ring.piece_heads(), first = number * heads;
  std::erase_if(branch.tiles,
                [&](const IndexTile& tile) { return tile.head < first || tile.head >= first + heads; });
  for (IndexTile& tile : branch.tiles) {
    tile.head -= static_cast<std::int32_t>(first);
    tile.kv_head -= static_cast<std::int32_t>(number * ring.piece_kv_heads());
  }
}

bool stands_by_step(const BranchIndex& branch) {
  for (std::size_t list = 0; list + 1 < branch.begin.size(); ++list)
    for (auto key = static_cast<std::size_t>(branch.begin[list]) + 1;
         key < static_cast<std::size_t>(branch.begin[list + 1]); ++key)
      if (branch.key_position[key - 1] + branch.key_step != branch.key_position[key]) return false;
  return true;
}

// A kernel that masks one tile of a piece takes the position of every key of the piece from its branch's
// step, also in tiles that see all of their keys: then lists that do not stand by it need a table.
void complete(Index& index) {
  std::erase_if(index.branches, [](const BranchIndex& branch) { return branch.tiles.empty(); });
  if (std::none_of(index.branches.begin(), index.branches.end(), cuts_keys)) return;
  for (BranchIndex& branch : index.branches)
    branch.keys_by_step = branch.keys_by_step && stands_by_step(branch);
}

// As on one rank, but rows stand where the ranks' tensors have them.
Index index_of_heads(const Ring& ring, std::int64_t rank, std::int64_t tile_rows,
                     const PieceOptions& options) {
  Case alone = ring.work();
  alone.ring_size = 1;
  KernelChoice linear = ring.variant().kernel();
  linear.order = "linear";
  Variant by_position{linear, ring.variant().ring};
  by_position.ring.order_span = OrderSpan::shard;
  by_position.ring.groups = 0;
  by_position.ring.outer_link = OuterLink::direct;
  const Ring whole(alone, by_position);
  PieceKeys keys(whole, 0, 0);
  keys.slots = rows_of_positions(ring, stored_kv_positions);
  Index index{.q_rows = alone.sequence_length, .kv_rows = alone.sequence_length};
  index.q_slots = rows_of_positions(ring, stored_q_positions);
  index.branches.push_back(clearing_tiles(whole, 0, tile_rows));
  for (std::int64_t b = 0; b < std::ssize(alone.pattern); ++b)
    index.branches.push_back(piece_branch(whole, 0, keys, b, FirstPiece::yes, {tile_rows, options.causal}));
  for (BranchIndex& branch : index.branches) keep_heads(ring, rank, options.head_part, branch);
  complete(index);
  return index;
}

}  // namespace

std::vector<std::int32_t> stored_q_positions(const Ring& ring, std::int64_t rank) {
  const std::vector<std::int32_t> positions = positions_of_rows(ring, rank);
  if (ring.variant().kernel().order_tensors == OrderTensors::kv) return positions;
  return put_into(order_of(ring, rank), positions);
}

std::vector<std::int32_t> stored_kv_positions(const Ring& ring, std::int64_t rank) {
  if (!ring.global_order()) return put_into(order_of(ring, rank), positions_of_rows(ring, rank));
  std::vector<std::int32_t> all(static_cast<std::size_t>(ring.work().sequence_length));
  std::iota(all.begin(), all.end(), 0);
  const std::vector<std::int32_t> stored = put_into(order_of(ring, rank), all);
  const auto first = stored.begin() + ring.first_slot(rank);
  return {first, first + ring.kv_rows(rank)};
}

PackedShard packed_shard(const Ring& ring, std::int64_t source) {
  const Case& work = ring.work();
  const std::vector<std::int32_t> slots = order_of(ring, source);
  PackedShard packed{.class_of_head = ring.classes().of_head};
  for (const HeadClasses::Class& heads : ring.classes().classes) {
    std::vector<std::int32_t>& taken = packed.slots.emplace_back();
    for (std::int64_t b = 0; b < static_cast<std::int64_t>(work.pattern.size()); ++b) {
      const std::int64_t offset = heads.offsets[static_cast<std::size_t>(b)];
      if (offset < 0) continue;
      for (std::int64_t segment = 0; segment < segment_count(work, work.pattern[static_cast<std::size_t>(b)]);
           ++segment) {
        const Selection of{b, offset, segment};
        for_each_key(ring, of, source, needed_end(work, ring.shards(), of, source),
                     [&](std::int64_t row, std::int64_t) {
                       taken.push_back(slots.empty() ? static_cast<std::int32_t>(row)
                                                     : slots[static_cast<std::size_t>(row)]);
                     });
      }
    }
    packed.rows = std::max(packed.rows, static_cast<std::int64_t>(taken.size()));
  }
  return packed;
}

PackedShard whole_shard(const Ring& ring, std::int64_t source) {
  const std::int64_t rows = ring.kv_rows(source);
  PackedShard whole{
      .rows = rows,
      .slots = {std::vector<std::int32_t>(static_cast<std::size_t>(rows))},
      .class_of_head = std::vector<std::int32_t>(static_cast<std::size_t>(ring.work().kv_heads))};
  std::iota(whole.slots.front().begin(), whole.slots.front().end(), 0);
  return whole;
}

Index ring_index(const Ring& ring, std::int64_t rank, std::int64_t source, FirstPiece first,
                 std::int64_t tile_rows, const PieceOptions& options) {
  if (ring.splits_heads()) return index_of_heads(ring, rank, tile_rows, options);
  const PieceKeys keys(ring, rank, source);
  Index index{.q_rows = ring.shards().count(rank),
              .kv_rows = keys.packed ? ring.sent_rows(source) : ring.kv_rows(source)};
  if (ring.variant().kernel().order_tensors == OrderTensors::qkv) index.q_slots = order_of(ring, rank);
  if (first == FirstPiece::yes) index.branches.push_back(clearing_tiles(ring, rank, tile_rows));
  for (std::int64_t b = 0; b < static_cast<std::int64_t>(ring.work().pattern.size()); ++b)
    index.branches.push_back(piece_branch(ring, rank, keys, b, first, {tile_rows, options.causal}));
  complete(index);
  return index;
}

}  // namespace hilbench
