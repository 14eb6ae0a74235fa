#include "kernels/ring/algorithms.hpp"

#include <array>

namespace hilbench {
namespace {

constexpr auto kAlgorithms = std::to_array<RingAlgorithmInfo>({
    {RingAlgorithm::allgather, "sends every shard of K and V to every rank, then computes"},
    {RingAlgorithm::ring, "passes whole shards from rank to rank; a transfer runs beside the computation"},
    {RingAlgorithm::ring_packed, "like ring, only the rows that some rank further on needs"},
    {RingAlgorithm::allgather_packed, "sends those rows at once, to the ranks that need some"},
    {RingAlgorithm::hierarchical, "like ring inside groups of ranks (ring_groups), and from group to group"},
    {RingAlgorithm::hierarchical_packed, "like hierarchical, only the rows that some other rank needs"},
    {RingAlgorithm::ulysses,
     "gives each rank all positions of its share of the heads, and takes O and LSE back"},
    {RingAlgorithm::local, "sends nothing; chosen by itself if no segment crosses a shard"},
});

}  // namespace

std::span<const RingAlgorithmInfo> ring_algorithms() {
  return kAlgorithms;
}

}  // namespace hilbench
