// Claims about kernel time, misses and memory.
#pragma once

#include "reports/claims/answers.hpp"
#include "reports/claims/claim_records.hpp"

namespace hilbench {

// By kernel time, misses or memory: in one case, or in all cases of one dtype together if the claim states no
// pattern.
ClaimAnswer answer_in_case(const ClaimRow& claim, const CaseView& view);
ClaimAnswer answer_over_cases(const ClaimRow& claim, const View& view, Dtype dtype);

// The times of the records: what is measured, and the controls. `ratio`: of two records, with nanoseconds
// that are added to the second.
using TimeRatio = std::optional<Measured> (*)(const Record&, const Record&, double);
void compare_times(ClaimAnswer& answer, const ClaimRecords& records, TimeRatio ratio);

}  // namespace hilbench
