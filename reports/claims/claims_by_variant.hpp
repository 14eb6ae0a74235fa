// Claims that name the variants that answer them: those of papers about order, windows and traversals.
#pragma once

#include <vector>

#include "kernels/base/text/yaml.hpp"
#include "reports/claims/answers.hpp"
#include "reports/claims/claims.hpp"

namespace hilbench {

// The value of the key `test` of a row. Throws UsageError with file and line.
ClaimTest test_of(const YamlValue& value);

// One answer for each case that the test of the claim asks for; at least one.
std::vector<ClaimAnswer> answer_tested(const ClaimRow& claim, const View& view);

}  // namespace hilbench
