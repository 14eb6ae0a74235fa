// The state of a GPU while it is measured, from NVML. The library is part of the driver; it is loaded
// on first use.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "harness/device/energy.hpp"

namespace hilbench {

// Summarises the states of one GPU. Never throws: values that NVML does not give are null, with the reason.
class GpuMonitor {
 public:
  // To be created before this process uses the GPU: the processes that use it then count as foreign.
  explicit GpuMonitor(const std::string& uuid);
  ~GpuMonitor();
  GpuMonitor(const GpuMonitor&) = delete;
  GpuMonitor& operator=(const GpuMonitor&) = delete;

  void observe();
  // What the whole GPU has used since its driver was loaded. NVML counts millijoules.
  EnergyReading energy() const;
  // The share of the time while `body` ran that the GPU worked, for whichever process; nothing if the driver
  // does not tell (it does for compute capability 9.0 and up, and not for slices). `body` should take a tenth
  // of a second or more.
  std::optional<double> busy_share(const std::function<void()>& body) const;
  // {"sm_mhz":[min,max],"memory_mhz":[min,max],"temperature_c":[..],"power_w":[..],"throttle":["..."],
  //  "foreign_processes":n,"mig":true if the device is a slice of a GPU (then clocks, temperature and power
  //  are those of the whole GPU),"driver":"580.1","power_limit_w":the enforced limit,"ecc":true if memory
  //  errors are corrected,"reason":null, or why NVML gives nothing}; each value is null if NVML does not give
  //  it
  nlohmann::json summary() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// "" if NVML starts and has the functions used here; otherwise the reason and what to do.
const std::string& nvml_absence();

}  // namespace hilbench
