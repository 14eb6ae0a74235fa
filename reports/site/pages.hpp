// The pages above those of sweeps.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "reports/site/overview.hpp"
#include "reports/site/plain_page.hpp"

namespace hilbench {

// Claims against machines, rivals, windows, rings, machines, calibration.
PlainPage index_page(const std::vector<MachineOverview>& machines);

// Of one machine: its findings, its sweeps, and a figure of each. `findings`: markup of its README; may be
// empty.
PlainPage machine_page(const MachineOverview& machine, const std::string& findings);

// "NVIDIA H200; Intel(R) Xeon(R) Processor": what the records name. Never empty.
std::string machine_parts(const MachineOverview& machine);
std::size_t record_count(const MachineOverview& machine);
// "2026-11-21 to 2026-11-24"; "" if no record names a day.
std::string days_text(const MachineOverview& machine);

}  // namespace hilbench
