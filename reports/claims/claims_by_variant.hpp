// Claims that state parameters of a case: those of papers about order, windows and traversals.
#pragma once

#include <vector>

#include "reports/claims/answers.hpp"
#include "reports/claims/claims.hpp"

namespace hilbench {

// One answer for each case that the test of the claim asks for; at least one.
std::vector<ClaimAnswer> answer_tested(const ClaimRow& claim, const View& view);

}  // namespace hilbench
