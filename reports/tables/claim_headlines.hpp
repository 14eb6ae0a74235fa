// Claims in short.
#pragma once

#include <vector>

#include "reports/claims/answers.hpp"
#include "reports/view/table.hpp"

namespace hilbench {

// One row for each claim and quantity that these records test: claimed and measured ratios of all cases.
Table headline_claims_table(const std::vector<ClaimAnswer>& answers);

}  // namespace hilbench
