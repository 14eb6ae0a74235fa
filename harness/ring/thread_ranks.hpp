// Ranks of rings as threads of this process.
#pragma once

#include <memory>

#include "harness/measure/bench.hpp"
#include "harness/ring/ranks.hpp"

namespace hilbench {

// Throws as RingRanks::ask() if a rank cannot be made ready for `record`.
std::unique_ptr<RingRanks> thread_ranks(Bench& bench, const Record& record);

// Where all ranks are threads.
std::unique_ptr<RingHost> thread_rings();

}  // namespace hilbench
