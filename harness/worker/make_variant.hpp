// From a planned variant to one that can run: on one rank, as a ring, or as a program of its own.
#pragma once

#include <memory>

#include "harness/measure/bench.hpp"
#include "harness/measure/prepared_variant.hpp"

namespace hilbench {

// Throws Error where memory, order or kernel cannot be had, Unsupported where an external baseline says so.
// `record.kernel` names the variant.
std::unique_ptr<PreparedVariant> make_variant(Bench& bench, const Record& record);

}  // namespace hilbench
