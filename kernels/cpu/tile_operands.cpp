#include "kernels/cpu/tile_operands.hpp"

#include <cstddef>

#include "kernels/case/pattern.hpp"

namespace hilbench {
namespace {

TileMasks masks_of(const BranchIndex& branch, const IndexTile& tile) {
  const auto list = static_cast<std::size_t>(tile.query_row / kMaskedRows);
  const auto begin = static_cast<std::size_t>(branch.block_begin[list]);
  const auto end = static_cast<std::size_t>(branch.block_begin[list + 1]);
  return {std::span(branch.mask_of_block).subspan(begin, end - begin), branch.masks.data()};
}

TileDropout dropout_of_tile(const Case& work, const Index& index, const BranchIndex& branch,
                            const IndexTile& tile) {
  TileDropout made{.dropout = dropout_of(work), .stream = {}, .key_ordinal = {}};
  if (!drops(made.dropout)) return made;
  const std::int64_t number = &branch - index.branches.data();
  const Branch& of_case = work.pattern[static_cast<std::size_t>(number)];
  made.stream = dropout_stream(work, tile.batch, tile.head, number, tile.query_row / of_case.segment_length);
  made.first_query = static_cast<std::uint32_t>(query_ordinal(work, number, tile.query_row));
  if (!branch.key_ordinal.empty())
    made.key_ordinal =
        std::span(branch.key_ordinal)
            .subspan(static_cast<std::size_t>(tile.key_begin), static_cast<std::size_t>(tile.key_count));
  return made;
}

}  // namespace

Tile tile_operands(const Case& work, const Operands& operands, const Index& index, const BranchIndex& branch,
                   const IndexTile& tile) {
  const std::int64_t first_q = tile.batch * index.q_rows * work.heads + tile.head;
  const std::int64_t first_kv = tile.batch * index.kv_rows * work.kv_heads + tile.kv_head;
  const std::int64_t row_bytes = work.head_dim * dtype_bytes(work.dtype);
  const auto begin = static_cast<std::size_t>(tile.key_begin);
  const auto count = static_cast<std::size_t>(tile.key_count);
  const bool windows = has_windows(work);
  return {.dtype = work.dtype,
          .head_dim = work.head_dim,
          .q = static_cast<const std::byte*>(operands.q) + first_q * row_bytes,
          .k = static_cast<const std::byte*>(operands.k) + first_kv * row_bytes,
          .v = static_cast<const std::byte*>(operands.v) + first_kv * row_bytes,
          .q_stride = work.heads * work.head_dim,
          .kv_stride = work.kv_heads * work.head_dim,
          .queries = {tile.query_row, tile.query_step, tile.query_count},
          .query_rows = branch.query_rows,
          .q_slots = index.q_slots,
          .key_slot = std::span(branch.key_slot).subspan(begin, count),
          .key_position = windows ? std::span<const std::int32_t>{}
                                  : std::span(branch.key_position).subspan(begin, count),
          .masks = windows ? masks_of(branch, tile) : TileMasks{},
          .dropout = dropout_of_tile(work, index, branch, tile),
          .keys_backwards = tile.keys_backwards,
          .mask = windows ? Mask::full : work.mask,  // the masks of windows are causal if the case is
          .lse = operands.lse + first_q,
          .lse_stride = work.heads};
}

}  // namespace hilbench
