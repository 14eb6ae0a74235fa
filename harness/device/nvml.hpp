// What NVML tells of a GPU while it is measured. The library comes with the driver and is loaded on first
// use.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace hilbench {

// Sums up what was seen of one GPU. Never throws: what NVML does not tell is left out, with the reason.
class GpuMonitor {
 public:
  // Processes that use the GPU now, before this one does, count as foreign.
  explicit GpuMonitor(const std::string& uuid);
  ~GpuMonitor();
  GpuMonitor(const GpuMonitor&) = delete;
  GpuMonitor& operator=(const GpuMonitor&) = delete;

  void observe();
  // {"sm_mhz":[min,max],"memory_mhz":[min,max],"temperature_c":[..],"power_w":[..],"throttle":["..."],
  //  "foreign_processes":n,"mig":whether the device is a slice of a GPU, whose clocks, temperature and power
  //  it then shares,"driver":"580.1","power_limit_w":the enforced one,"ecc":whether memory is corrected,
  //  "reason":null or why NVML is silent}; null where it does not tell
  nlohmann::json summary() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// "" where NVML starts and has what is needed here, else the reason and what to do.
const std::string& nvml_absence();

}  // namespace hilbench
