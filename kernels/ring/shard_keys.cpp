#include "kernels/ring/shard_keys.hpp"

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
  return of.sequence_length == 0 ? OrderRequest{} : order_request(of, ring.variant());
}

std::vector<std::int32_t> order_of(const Ring& ring, std::int64_t rank) {
  if (ring.variant().order == "linear") return {};
  const OrderRequest request = shard_order(ring, rank);
  if (request.length == 0) return {};
  const std::vector<std::int64_t> slots = order_slots(request);
  return {slots.begin(), slots.end()};
}

}  // namespace hilbench
