#include "kernels/ring/ring_walk.hpp"

#include "kernels/ring/piece_branch.hpp"

namespace hilbench {

Walk ring_walk(const Ring& ring, std::int64_t rank, std::int64_t tile_rows, CausalTraversal causal) {
  Walk walk{.q_rows = ring.shards().count(rank),
            .kv_rows = ring.kv_rows(rank),
            .sources = std::ssize(ring.buffer_rows(rank)),
            .received_rows = ring.longest_sent_rows()};
  if (ring.variant().kernel().order_tensors == OrderTensors::qkv) walk.q_slots = order_of(ring, rank);
  std::vector<PieceKeys> sources;
  for (const RingStep& step : ring.steps(rank))
    for (const RingStep::Source& source : step.sources)
      sources.emplace_back(ring, rank, source.rank).number = source.buffer + 1;
  for (std::int64_t b = 0; b < std::ssize(ring.work().pattern); ++b)
    walk.branches.push_back(walk_branch(ring, rank, sources, b, {tile_rows, causal}));
  return walk;
}

}  // namespace hilbench
