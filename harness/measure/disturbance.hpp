// What disturbed a measurement on the host: other programs, the scheduler, the hypervisor.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace hilbench {

// Looks at the host when it is made, and again by seen().
class Disturbance {
 public:
  Disturbance();

  // What happens between pause() and resume() does not count.
  void pause();
  void resume();

  // `time` (ISO 8601, UTC); `load_average` (of one minute); since this object was made: `seconds`,
  // `involuntary_switches` (how often another task took a core from a thread of this process), `steal_s`
  // (core seconds that the hypervisor gave to others), `other_busy_cores` (cores that other processes kept
  // busy, in the mean). Null if Linux does not say.
  nlohmann::json seen() const;

 private:
  struct Look {
    double seconds = 0, own_cpu_s = 0;
    double involuntary_switches = 0;
    double busy_s = 0, steal_s = 0;  // of all cores
    bool known = true;               // what Linux says of all cores
    void add(const Look& other, double sign);
  };
  static Look look();

  Look seen_;   // before the last pause
  Look since_;  // the last resume
  bool paused_ = false;
};

}  // namespace hilbench
