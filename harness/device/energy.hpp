// The energy that a device uses, by the counters of its driver.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hilbench {

// One look at the counters of a device: one of a GPU, one for each package of processors.
struct EnergyReading {
  struct Count {
    std::uint64_t microjoules = 0;
    std::uint64_t wraps_at = 0;  // microjoules after which it starts again; 0: it does not
  };
  std::vector<Count> counts;
  std::string source = {};  // "nvml", "rapl"
  std::string reason = {};  // why there are no counts
};

struct EnergyUse {
  std::optional<double> joules;
  std::string reason;  // why they are not known
};

// What all counters together counted between two readings that are `seconds` apart. Never 0: a counter that
// stood still, ran backwards or may have wrapped more than once gives no value, with the reason.
EnergyUse energy_between(const EnergyReading& begin, const EnergyReading& end, double seconds);

// RAPL's counters of the processor packages: all that runs on them, without their memory.
EnergyReading read_rapl(const std::filesystem::path& folder = "/sys/class/powercap");

}  // namespace hilbench
