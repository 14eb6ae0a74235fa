// Claims against the answers of these records.
#pragma once

#include <vector>

#include "reports/claims/answers.hpp"
#include "reports/view/table.hpp"

namespace hilbench {

// One row for each claim and case that answers it. On the page judged claims and untestable ones are two
// tables with columns of their own; the CSV is one.
Table claims_table(const std::vector<ClaimAnswer>& answers);
Table judged_claims_table(const std::vector<ClaimAnswer>& answers);
Table untestable_claims_table(const std::vector<ClaimAnswer>& answers);

}  // namespace hilbench
