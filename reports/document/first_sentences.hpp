// What the report says first: a sentence or two, and the tiles beside them.
#pragma once

#include <string>
#include <vector>

#include "reports/document/document.hpp"

namespace hilbench {

// The order that the claims are about, and where it stands in other cases too, else what these records do
// compare.
std::vector<std::string> main_sentences(const View& view);
std::string claims_sentence(const std::vector<ClaimAnswer>& answers);
std::string status_sentence(const View& view);

// Claims by verdict. None where these records test no claim: there is nothing to count.
std::vector<Tile> claim_tiles(const std::vector<ClaimAnswer>& answers);

}  // namespace hilbench
