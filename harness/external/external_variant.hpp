// An external baseline, on one rank or as a ring of its own.
#pragma once

#include "harness/measure/bench.hpp"
#include "harness/measure/prepared_variant.hpp"

namespace hilbench {

// Expects a record whose kernel names an external baseline of the bench. Throws as make_variant does.
std::unique_ptr<PreparedVariant> make_external_variant(Bench& bench, const Record& record);

}  // namespace hilbench
