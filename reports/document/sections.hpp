// The sections of the report that explain how something was judged or measured.
#pragma once

#include <string>
#include <vector>

#include "reports/document/document.hpp"

namespace hilbench {

// The claims of the seed reports, what these records say of them, and how they are judged. There is at
// least one answer.
Section claims_section(const std::vector<ClaimAnswer>& answers, const std::string& machine);

// How many claims have each verdict; none if these records test no claim.
std::vector<Tile> claim_tiles(const std::vector<ClaimAnswer>& answers);

// What papers claim; no blocks without an answer.
Section literature_section(const std::vector<ClaimAnswer>& answers);

// The findings on rings and twins: a table, and the sentences that stand above it.
Section rings_section(Table rings, const std::vector<std::string>& sentences);
Section twins_section(Table twins, const std::vector<std::string>& sentences);

// How every number was measured.
Section method_section(const View& view);

}  // namespace hilbench
