// What records say of their samples.
#pragma once

#include <vector>

#include "reports/records/record.hpp"

namespace hilbench {

// Sets the medians with their intervals, and the rates, from the samples that are there.
void finish_statistics(std::vector<Record>& records);

}  // namespace hilbench
