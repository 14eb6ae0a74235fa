// What papers claim, against these records.
#pragma once

#include <vector>

#include "reports/claims/literature.hpp"
#include "reports/view/table.hpp"

namespace hilbench {

// All answers, for data files.
Table literature_table(const std::vector<PaperAnswer>& answers);
// Those that have a verdict, and those that have none.
Table judged_papers_table(const std::vector<PaperAnswer>& answers);
Table untestable_papers_table(const std::vector<PaperAnswer>& answers);

}  // namespace hilbench
