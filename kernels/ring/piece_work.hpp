// How much each rank computes against each shard, counted without building an index.
#pragma once

#include <vector>

#include "kernels/ring/ring.hpp"

namespace hilbench {

// Queries of one rank against keys of one shard, over batch, heads and branches.
struct PieceWork {
  double pairs = 0;      // unmasked (query, key) pairs
  double rows = 0;       // (query row, branch) pairs that see a key of the shard: rows of O to merge
  double launches = 0;   // branches with something to compute; a rank's own piece has at least one
  double tile_keys = 0;  // sum over launches of the longest key list: the keys of the last tile
};

// [rank * ranks + source]. The time depends on ranks, branches and heads, not on the length. Exact, except
// with `order_span: global`: that assumes that the keys which a rank sees are spread evenly over the shards.
std::vector<PieceWork> piece_works(const Ring& ring);

}  // namespace hilbench
