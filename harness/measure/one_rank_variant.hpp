// A kernel or built-in baseline that computes a whole case on one rank, on the bench's device.
#pragma once

#include <memory>

#include "harness/measure/bench.hpp"
#include "harness/measure/prepared_variant.hpp"

namespace hilbench {

// Throws like make_variant.
std::unique_ptr<PreparedVariant> make_one_rank_variant(Bench& bench, const Record& record);

}  // namespace hilbench
