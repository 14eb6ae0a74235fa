// What disturbed a measurement on the host: other programs, the scheduler, the hypervisor.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "harness/measure/processor_use.hpp"

namespace hilbench {

// Looks at the host when it is made, and again by seen().
class Disturbance {
 public:
  Disturbance();

  // What happens between pause() and resume() does not count.
  void pause();
  void resume();

  // `time` (ISO 8601, UTC); `load_average` (of one minute); since this object was made: `seconds`,
  // `involuntary_switches` (how often another task took a core from a thread of this process); of the cores
  // in the affinity mask of the thread that made this object `steal_s` (core seconds that the hypervisor gave
  // to others) and `other_busy_cores` (how many other processes kept busy, in the mean); and
  // ProcessorUse::seen(). Null if Linux does not say.
  nlohmann::json seen() const;

 private:
  struct Look {
    double seconds = 0, own_cpu_s = 0;
    double involuntary_switches = 0;
    double busy_s = 0, steal_s = 0;  // of the allowed cores
    bool known = true;               // what Linux says of them
    void add(const Look& other, double sign);
  };
  Look look() const;

  std::vector<int> cores_;  // numbers of the allowed ones
  Look seen_;               // before the last pause
  Look since_;              // the last resume
  ProcessorUse own_;
  bool paused_ = false;
};

}  // namespace hilbench
