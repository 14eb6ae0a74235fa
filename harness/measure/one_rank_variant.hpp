// A kernel or a baseline of this program on one rank: all of it, on the bench's own device.
#pragma once

#include <memory>

#include "harness/measure/bench.hpp"
#include "harness/measure/prepared_variant.hpp"

namespace hilbench {

// Throws as make_variant does.
std::unique_ptr<PreparedVariant> make_one_rank_variant(Bench& bench, const Record& record);

}  // namespace hilbench
