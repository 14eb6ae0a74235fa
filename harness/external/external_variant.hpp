// An external baseline as a variant, on one rank or as a ring.
#pragma once

#include <memory>

#include "harness/external/comparison_programs.hpp"
#include "harness/measure/bench.hpp"
#include "harness/measure/prepared_variant.hpp"

namespace hilbench {

// Loads the program of `record` with the second inputs: if it takes no others, it computes on those that are
// timed. `bench` and `programs` must outlive it. Throws like ComparisonPrograms::load().
std::unique_ptr<PreparedVariant> make_external_variant(Bench& bench, ComparisonPrograms& programs,
                                                       const Record& record);

}  // namespace hilbench
