// LongNet's distributed attention (arXiv 2307.02486, section 3.2) as a rival of rings. Every rank selects
// the K and V rows of the pattern in its own part of the sequence, the ranks that share a segment gather
// these rows in one step, and each rank computes its own queries against them. The kernels are the same as
// for this project's rings.
//
// It moves as many bytes as in the paper or fewer: a row that several branches select is sent once, and in a
// causal case only to ranks with later queries. If no segment crosses a shard, nothing is sent.
#include "baselines/longnet_allgather.hpp"

namespace hilbench {

const Implementation kLongnetAllgather = {
    .name = "longnet_allgather",
    .help = "LongNet's ring: selected rows gathered at once, then the best kernel; ring_size above 1",
    .kind = ImplementationKind::baseline,
    .device = DeviceKind::automatic,
    .ring_algorithm = RingAlgorithm::allgather_packed,
    .peak_unit = [](const Case&) { return std::string_view(); },
    .why_not = [](const Case&, const Variant&) { return std::optional<std::string>(); },
    .workspace_bytes = [](const Case&, int) { return 0.0; },
};

}  // namespace hilbench
