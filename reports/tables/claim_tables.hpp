// Claims, and what these records answer.
#pragma once

#include <vector>

#include "reports/claims/answers.hpp"
#include "reports/view/table.hpp"

namespace hilbench {

// One row for each claim and case that answers it. The CSV holds all claims in one table; the page has one
// table of judged claims and one of claims that cannot be tested.
Table claims_table(const std::vector<ClaimAnswer>& answers);
Table judged_claims_table(const std::vector<ClaimAnswer>& answers);
Table untestable_claims_table(const std::vector<ClaimAnswer>& answers);

}  // namespace hilbench
