// The footprint of a tile of windows: its queries, and the keys that it reads for them.
#pragma once

#include <optional>

#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"
#include "reports/pictures/strip.hpp"

namespace hilbench {

// Of the tile that reads the median number of keys; in long sequences of 129 tiles that lie evenly. The case
// has windows on a grid. `computed_over_needed`: as it was counted before; none: count it. Throws UsageError
// as order_slots() does.
Footprint footprint_of(const Case& work, const KernelChoice& choice,
                       std::optional<double> computed_over_needed = std::nullopt);

}  // namespace hilbench
