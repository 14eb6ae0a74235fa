// Every table that a report writes as CSV.
#pragma once

#include <vector>

#include "reports/claims/answers.hpp"
#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

std::vector<Table> all_tables(const View& view, const std::vector<ClaimAnswer>& answers);

}  // namespace hilbench
