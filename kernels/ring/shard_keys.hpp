// Finds the keys of one shard, for the rank that holds them or for another.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/orders/order.hpp"
#include "kernels/ring/ring.hpp"
#include "kernels/traversals/fastest.hpp"

namespace hilbench {

// The order inside a shard, or of the whole sequence if the shards are cut from a global order. Length 0: the
// rank has no row.
OrderRequest shard_order(const Ring& ring, std::int64_t rank);

// The slot of each row of a shard, or of each position if the order is global. Empty: linear.
std::vector<std::int32_t> order_of(const Ring& ring, std::int64_t rank);

// The traversal of the pieces of a branch. `auto` chooses it for the keys of one shard, or of the computed
// heads if the ring splits heads; `causal` is what the kernel takes under a causal mask.
Traversal ring_traversal(const Ring& ring, const Branch& branch, CausalTraversal causal);

// Calls take(row, position) for the selected keys of a shard in a segment, below `end`, by position.
template <class Take>
void for_each_key(const Ring& ring, const Selection& of, std::int64_t rank, std::int64_t end,
                  const Take& take) {
  const Shards& shards = ring.shards();
  for (std::int64_t stretch = 0; stretch < shards.stretches(); ++stretch) {
    const Stretch rows = key_rows(ring.work(), shards, of, rank, stretch);
    for (std::int64_t i = 0; i < rows.count; ++i) {
      const std::int64_t row = rows.row + i * rows.step;
      const std::int64_t position = shards.position(rank, row);
      if (position >= end) return;
      take(row, position);
    }
  }
}

}  // namespace hilbench
