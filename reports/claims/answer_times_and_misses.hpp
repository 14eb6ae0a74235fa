// Claims about kernel time, misses and memory.
#pragma once

#include "reports/claims/answers.hpp"

namespace hilbench {

// By kernel time, misses or memory: in one case, or in all cases of one dtype together if the claim states no
// pattern.
ClaimAnswer answer_in_case(const ClaimRow& claim, const CaseView& view);
ClaimAnswer answer_over_cases(const ClaimRow& claim, const View& view, Dtype dtype);

}  // namespace hilbench
