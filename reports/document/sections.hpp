// Sections of the report whose prose says how a subject was judged.
#pragma once

#include <string>
#include <vector>

#include "reports/document/document.hpp"

namespace hilbench {

// The claims of the seed reports against these records, and how they are judged.
Section claims_section(const std::vector<ClaimAnswer>& answers, const std::string& machine);

// Rows of rings_table(), and what the model of rings says of them.
Section rings_section(Table rings, const std::vector<std::string>& predicted);

// How every figure was come by.
Section method_section(const View& view);

}  // namespace hilbench
