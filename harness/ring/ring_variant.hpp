// A variant on a ring of several ranks: each owns its shard of the inputs and of the output.
#pragma once

#include "harness/measure/bench.hpp"
#include "harness/measure/prepared_variant.hpp"

namespace hilbench {

// Expects a record that the plan lets run. Throws as make_variant does; where a rank fails, the message
// names it.
std::unique_ptr<PreparedVariant> make_ring_variant(Bench& bench, const Record& record);

}  // namespace hilbench
