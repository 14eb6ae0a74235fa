// Claims about caches, level by level.
#pragma once

#include <vector>

#include "reports/claims/answers.hpp"
#include "reports/view/table.hpp"

namespace hilbench {

// One row for each level of the caches of each claim about them: counts, ratios, verdict, and how it was
// counted.
Table claim_levels_table(const std::vector<ClaimAnswer>& answers);

}  // namespace hilbench
