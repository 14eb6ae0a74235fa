// An external baseline as a variant, on one rank or as a ring.
#pragma once

#include "harness/measure/bench.hpp"
#include "harness/measure/prepared_variant.hpp"

namespace hilbench {

// `record.kernel` must name an external baseline of the bench. Throws like make_variant.
std::unique_ptr<PreparedVariant> make_external_variant(Bench& bench, const Record& record);

}  // namespace hilbench
