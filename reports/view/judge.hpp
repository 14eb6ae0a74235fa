// Speedups and verdicts of records, found from their samples. They are never stored.
#pragma once

#include <vector>

#include "reports/records/record.hpp"

namespace hilbench {

// Sets `speedup` of all records of a sweep: each against the reference of its case. Records without paired
// times get none.
void judge(std::vector<Record>& records);

}  // namespace hilbench
