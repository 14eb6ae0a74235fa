// What papers claim, against these records. Answers are those of ClaimOrigin::paper.
#pragma once

#include <vector>

#include "reports/claims/answers.hpp"
#include "reports/view/table.hpp"

namespace hilbench {

// All answers, for data files.
Table literature_table(const std::vector<ClaimAnswer>& answers);
// Those that have a verdict, and those that have none.
Table judged_papers_table(const std::vector<ClaimAnswer>& answers);
Table untestable_papers_table(const std::vector<ClaimAnswer>& answers);

}  // namespace hilbench
