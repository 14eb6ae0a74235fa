#include "kernels/ring/shard_keys.hpp"

#include <algorithm>
#include <numeric>

namespace hilbench {
namespace {

// The case that an order inside a shard is made for: as many positions, and the dilations that
// streams have among them.
Case shard_case(const Ring& ring, std::int64_t rank) {
  Case shard = ring.work();
  shard.sequence_length = ring.shards().count(rank);
  if (ring.shards().sharding() == Sharding::striped)
    for (Branch& branch : shard.pattern) branch.dilation /= std::gcd(branch.dilation, ring.ranks());
  return shard;
}

}  // namespace

OrderRequest shard_order(const Ring& ring, std::int64_t rank) {
  const Case of = ring.global_order() ? ring.work() : shard_case(ring, rank);
  return of.sequence_length == 0 ? OrderRequest{} : order_request(of, ring.variant().kernel());
}

std::vector<std::int32_t> order_of(const Ring& ring, std::int64_t rank) {
  if (ring.variant().kernel().order == "linear") return {};
  const OrderRequest request = shard_order(ring, rank);
  if (request.length == 0) return {};
  const std::vector<std::int64_t> slots = order_slots(request);
  return {slots.begin(), slots.end()};
}

Traversal ring_traversal(const Ring& ring, const Branch& branch, CausalTraversal causal) {
  Case piece = ring.work();
  piece.sequence_length = ring.splits_heads() || ring.persistent()  // tiles visit the keys of all shards
                              ? piece.sequence_length
                              : std::max<std::int64_t>(1, piece.sequence_length / ring.ranks());
  piece.heads = ring.piece_heads();
  piece.kv_heads = ring.piece_kv_heads();
  return traversal_of(piece, branch, ring.variant().kernel(), {.causal = causal});
}

}  // namespace hilbench
