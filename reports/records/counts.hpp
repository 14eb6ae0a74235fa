// Counters that were counted several times.
#pragma once

#include <map>
#include <string>

#include "kernels/base/counter.hpp"

namespace hilbench {

// Adds further counts of the same variant to `total`. The value of each counter becomes the median of all its
// counts. A counter that was not read each time, or is exact, keeps what it has.
void add_counts(std::map<std::string, Counter>& total, const std::map<std::string, Counter>& further);

}  // namespace hilbench
