// Counters that were counted several times.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "kernels/base/text/counter.hpp"

namespace hilbench {

// An interval of counts, and so a verdict, needs this many of each variant.
inline constexpr std::size_t kFewestCounts = 5;

// All counts of a counter; one that was counted once does not list it. Empty if it was not counted.
std::vector<double> counts_of(const Counter& counter);

// Adds further counts of the same variant to `total`. The value of each counter becomes the median of all its
// counts. A counter that was not read each time, or is exact, keeps what it has.
void add_counts(std::map<std::string, Counter>& total, const std::map<std::string, Counter>& further);

}  // namespace hilbench
