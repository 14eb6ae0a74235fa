// The sections of the report that explain how something was judged or measured.
#pragma once

#include <string>
#include <vector>

#include "reports/document/document.hpp"

namespace hilbench {

// The claims of the seed reports, what these records say of them, and how they are judged. There is at
// least one answer.
Section claims_section(const std::vector<ClaimAnswer>& answers, const std::string& machine);

// What papers claim; no blocks without an answer.
Section literature_section(const std::vector<ClaimAnswer>& answers);
// How many of them have which verdict; empty without an answer.
std::string papers_sentence(const std::vector<ClaimAnswer>& answers);

// `rings`: of rings_table(). `predicted`: how well the model of rings fits.
Section rings_section(Table rings, const std::vector<std::string>& predicted);

// How far the twins of these records are from their references; no blocks if none was judged.
Section twins_section(const View& view);

// How every number was measured.
Section method_section(const View& view);

}  // namespace hilbench
