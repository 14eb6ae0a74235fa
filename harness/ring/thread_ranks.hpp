// Rings whose ranks are threads of this process.
#pragma once

#include <memory>

#include "harness/measure/bench.hpp"
#include "harness/ring/ranks.hpp"
#include "kernels/ring/ring.hpp"

namespace hilbench {

// `ring` is the ring of `record`. Throws like RingRanks::ask() if a rank cannot be prepared.
std::unique_ptr<RingRanks> thread_ranks(Bench& bench, const Record& record, const Ring& ring);

// A host that runs all ranks as threads.
std::unique_ptr<RingHost> thread_rings();

}  // namespace hilbench
