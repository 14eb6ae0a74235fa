// Reads claims.yaml, or a file like it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "reports/claims/claims.hpp"

namespace hilbench {

// All rows of all claims; a row that states several quantities becomes several ClaimRows. An empty path means
// the claims built into the program. Throws UsageError if the file is not a claims file.
std::vector<ClaimRow> load_claims(const std::filesystem::path& file);
// The same from text; `where` names the text in messages.
std::vector<ClaimRow> parse_claims(const std::string& text, const std::string& where);

}  // namespace hilbench
