// What records say of their samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "reports/records/record.hpp"

namespace hilbench {

// Medians with intervals, rates, and speedups against `reference` (an index into records, or none), from the
// samples that are there. `seed`: of the intervals.
void finish_statistics(std::vector<Record>& records, std::optional<std::size_t> reference,
                       std::uint64_t seed);

}  // namespace hilbench
