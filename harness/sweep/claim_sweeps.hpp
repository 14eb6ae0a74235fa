// The sweeps of the claims, among those that the program holds.
#pragma once

#include <string>
#include <vector>

#include "harness/sweep/embedded.hpp"

namespace hilbench {

// Those of the folder sweeps/claims.
const std::vector<EmbeddedSweep>& claim_sweeps();

// The files of all sweeps that name the claim.
std::vector<std::string> sweeps_naming(const std::string& claim);
// The sweep that names the claim: the one with its name, otherwise the first. Throws UsageError if there is
// none.
const EmbeddedSweep& sweep_of_claim(const std::string& claim);

}  // namespace hilbench
