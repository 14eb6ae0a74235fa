// Claims about caches by cache level.
#pragma once

#include <vector>

#include "reports/claims/answers.hpp"
#include "reports/view/table.hpp"

namespace hilbench {

// One row for each claim about caches and each level: counts, ratios, verdict, and how it was counted.
Table claim_levels_table(const std::vector<ClaimAnswer>& answers);

}  // namespace hilbench
