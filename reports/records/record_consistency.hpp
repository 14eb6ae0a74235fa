// Whether what a record says agrees with itself.
#pragma once

#include "reports/records/record.hpp"

namespace hilbench {

// For records of a store or an export, which are complete; not for those on their way from a worker. Throws
// UsageError if the samples contradict the median or are no durations, or if time and verification contradict
// the status.
void expect_consistent(const Record& record);

}  // namespace hilbench
