// Prepares a planned variant: on one rank, as a ring, or as an external program.
#pragma once

#include <memory>

#include "harness/external/comparison_programs.hpp"
#include "harness/measure/bench.hpp"
#include "harness/measure/prepared_variant.hpp"

namespace hilbench {

// `record.kernel` names the kernel or baseline. Throws Error if the memory, the order or the kernel cannot be
// prepared, and Unsupported if an external baseline refuses the case. `programs` runs the external baselines,
// and `bench` and `programs` are of the same task.
std::unique_ptr<PreparedVariant> make_variant(Bench& bench, const Record& record,
                                              ComparisonPrograms& programs);

}  // namespace hilbench
