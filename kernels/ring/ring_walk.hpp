// The index of a rank that computes with all shards in one launch for each branch.
#pragma once

#include <cstdint>

#include "kernels/index/walk.hpp"
#include "kernels/ring/ring.hpp"
#include "kernels/traversals/fastest.hpp"

namespace hilbench {

// A persistent ring: its queries with the keys of all shards that the rank sees, in the sequence of its
// steps; received shard s is in receive buffer s. `chunks` is not set. There are no tiles that only clear
// rows.
Walk ring_walk(const Ring& ring, std::int64_t rank, std::int64_t tile_rows, CausalTraversal causal);

}  // namespace hilbench
