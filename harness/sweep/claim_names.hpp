// The orders and traversals that claims name, which reports do not know.
#pragma once

#include <vector>

#include "reports/claims/claims.hpp"

namespace hilbench {

// Throws UsageError with file, line and row if a claim names an order or a traversal that there is not.
void check_claim_names(const std::vector<ClaimRow>& claims);

}  // namespace hilbench
