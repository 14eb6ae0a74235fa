// What disturbed a measurement on the host: other programs, the scheduler, the hypervisor.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>

namespace hilbench {

// Looks at the host when it is made, and again by seen().
class Disturbance {
 public:
  Disturbance();

  // `time` (ISO 8601, UTC); `load_average` (of one minute); since this object was made: `seconds`,
  // `involuntary_switches` (how often another task took a core from a thread of this process), `steal_s`
  // (core seconds that the hypervisor gave to others), `other_busy_cores` (cores that other processes kept
  // busy, in the mean). Null if Linux does not say.
  nlohmann::json seen() const;

 private:
  struct Look {
    double own_cpu_s = 0;
    long involuntary_switches = 0;
    double busy_s = -1, steal_s = -1;  // of all cores since the start of the machine; below 0: not known
  };
  static Look look();

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  Look before_;
};

}  // namespace hilbench
