// Figures above what the hardware can do.
#pragma once

#include <vector>

#include "harness/device/device.hpp"
#include "harness/measure/prepared_variant.hpp"

namespace hilbench {

// Marks timed variants `invalid` whose FLOP/s are above the measured peak of the unit that computes them:
// work was skipped, or the clock is wrong.
void check_against_peak(std::vector<VerifiedVariant>& variants, const Case& work, Device& device);

}  // namespace hilbench
