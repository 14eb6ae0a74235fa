// Claims about kernel time, misses and memory.
#pragma once

#include "reports/claims/answers.hpp"

namespace hilbench {

// By kernel time, misses or memory: in one case; over all cases together, where the claim states no pattern
// and must hold in each.
ClaimAnswer answer_in_case(const ClaimRow& claim, const CaseView& view);
ClaimAnswer answer_over_cases(const ClaimRow& claim, const View& view);

}  // namespace hilbench
