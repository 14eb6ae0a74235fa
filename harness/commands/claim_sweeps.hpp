// The sweeps of the claims, built into the program.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hilbench {

struct EmbeddedSweep {
  std::string_view file;  // "sweeps/claims/hybrid-core.yaml"
  std::string_view text;
};
std::span<const EmbeddedSweep> claim_sweeps();

// The files of all sweeps that name the claim.
std::vector<std::string> sweeps_naming(const std::string& claim);
// The sweep that names the claim: the one with its name, otherwise the first. Throws UsageError if there is
// none.
const EmbeddedSweep& sweep_of_claim(const std::string& claim);

}  // namespace hilbench
