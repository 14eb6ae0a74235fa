// What the results of several runs say together. It is told once: the site, `hilbench show --finding` and the
// pages of published results print these sentences and tables.
#pragma once

#include <string>
#include <vector>

#include "reports/findings/findings.hpp"
#include "reports/site/overview.hpp"

namespace hilbench {

// Those that the results have something to say about: `claims`, `other_dtypes`, `misses`, `verdicts` and
// `reported`. `machines` need not be all.
std::vector<Finding> findings_of_all(const std::vector<MachineOverview>& machines);

// "NVIDIA H200"; "AMD EPYC, 2 cores".
std::string short_name(const MachineOverview& machine);

}  // namespace hilbench
