// A variant on a ring of several ranks. Each rank owns a shard of the inputs and of the output.
#pragma once

#include "harness/measure/bench.hpp"
#include "harness/measure/prepared_variant.hpp"

namespace hilbench {

// The plan must not skip `record`. Throws like make_variant; if a rank fails, the message names it.
std::unique_ptr<PreparedVariant> make_ring_variant(Bench& bench, const Record& record);

}  // namespace hilbench
