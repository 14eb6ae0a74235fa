// How much each rank computes against each shard, counted without building an index.
#pragma once

#include <vector>

#include "kernels/ring/ring.hpp"

namespace hilbench {

// Queries of one rank against keys of one shard, over batch, heads and branches.
struct PieceWork {
  double pairs = 0;  // unmasked (query, key) pairs
  double rows = 0;   // (query row, branch) incidences that see a key of the shard: rows of O that are merged
  double launches = 0;   // branches that have something to do; a rank's own piece has at least one
  double tile_keys = 0;  // longest key list of each launch, summed: what its last tile walks alone
};

// [rank * ranks + source]. The time depends on ranks, branches and heads, not on the length. Exact, except
// with `order_span: global`, where the keys that a rank sees are taken to be spread evenly over the shards.
std::vector<PieceWork> piece_works(const Ring& ring);

}  // namespace hilbench
