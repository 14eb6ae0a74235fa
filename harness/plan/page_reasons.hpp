// Reasons not to measure a variant on pages of a chosen size.
#pragma once

#include <optional>
#include <string>

#include "harness/plan/plan.hpp"
#include "kernels/base/text/refusal.hpp"

namespace hilbench {

// Why the buffers of a variant cannot have pages of the size that the case asks for, or could not be checked;
// nothing if they can, and if the case asks for none. The variant has an implementation.
Refusal why_not_pages_here(const PlannedVariant& planned, const Site& site);

}  // namespace hilbench
