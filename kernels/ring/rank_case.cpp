#include "kernels/ring/rank_case.hpp"

#include <algorithm>

namespace hilbench {

Case computed_case(const Ring& ring, std::int64_t rank) {
  Case computed = ring.work();
  computed.sequence_length = std::max<std::int64_t>(1, ring.computed_rows(rank));
  computed.heads = ring.piece_heads();
  computed.kv_heads = ring.piece_kv_heads();
  return computed;
}

Case piece_case(const Ring& ring, std::int64_t rank, Mask mask) {
  Case piece = computed_case(ring, rank);
  piece.pattern = {{piece.sequence_length, 1}};
  piece.branch_heads = BranchHeads::all;
  piece.ring_size = 1;
  piece.mask = mask;
  return piece;
}

std::int64_t rows_of_tile(const Ring& ring, std::int64_t rank, const Implementation& kernel) {
  Case whole = ring.work();
  whole.ring_size = 1;
  whole.heads = ring.piece_heads();
  whole.kv_heads = ring.piece_kv_heads();
  return std::clamp<std::int64_t>(ring.computed_rows(rank), 1, kernel.tile_rows(whole));
}

bool cuts_keys(const BranchIndex& branch) {
  return std::any_of(branch.tiles.begin(), branch.tiles.end(),
                     [](const IndexTile& tile) { return tile.unmasked < tile.key_count; });
}

void note_row_writes(BranchIndex& branch, std::int64_t heads, std::vector<RowWrites>& row_writes) {
  std::erase_if(branch.tiles, [](const IndexTile& tile) { return tile.key_count == 0; });
  for (const IndexTile& tile : branch.tiles)
    for (std::int64_t i = 0; i < tile.query_count; ++i) {
      const std::int64_t row = tile.query_row + i * tile.query_step;
      RowWrites& writes = row_writes[static_cast<std::size_t>(row * heads + tile.head)];
      if (writes == RowWrites::untouched) writes = tile.merge ? RowWrites::merged : RowWrites::stored;
    }
}

}  // namespace hilbench
