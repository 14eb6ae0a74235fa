// Finds rates that the hardware cannot reach.
#pragma once

#include <vector>

#include "harness/device/device.hpp"
#include "harness/measure/prepared_variant.hpp"

namespace hilbench {

// Notes the peak that each timed variant is held against. Marks a timed variant `invalid` if its FLOP/s are
// above the measured peak of its unit: then work was skipped, or the clock is wrong.
void check_against_peak(std::vector<VerifiedVariant>& variants, const Case& work, Device& device);

}  // namespace hilbench
