// The key `test` of a claims file: what is compared, in which cases.
#pragma once

#include "kernels/base/text/yaml.hpp"
#include "reports/claims/claims.hpp"

namespace hilbench {

// Each throws UsageError with file and line. `test`: the value of the key.
ComparedVariants compared_of(const YamlValue& test);
ClaimTest test_of(const YamlValue& test);  // it has the key `case`

// Refuses a row that a record can answer and that does not name what its quantity compares.
void check_compared(const YamlValue& row, const ClaimRow& claim);

// True if the case has every parameter that the test names.
bool same_case(const ClaimTest& test, const Case& work);

}  // namespace hilbench
