// An external baseline as a variant, on one rank or as a ring.
#pragma once

#include <memory>

#include "harness/external/program.hpp"
#include "harness/measure/bench.hpp"
#include "harness/measure/prepared_variant.hpp"

namespace hilbench {

// `program` must be loaded with the inputs of the bench.
std::unique_ptr<PreparedVariant> make_external_variant(Bench& bench,
                                                       std::unique_ptr<ExternalProgram> program);

}  // namespace hilbench
