// How much of the processor the threads of this process got, and how much they waited for.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <utility>
#include <vector>

namespace hilbench {

// Looks at the threads of this process when it is made, and again by seen().
class ProcessorUse {
 public:
  ProcessorUse();

  // What happens between pause() and resume() does not count.
  void pause();
  void resume();

  // Since this object was made: `processor_s` (core seconds that the threads of this process ran), `waited_s`
  // (seconds that they were ready to run and had no core, all threads together: others ran, or a quota held
  // them back), `processor_share` (ran / (ran + waited); threads that sleep count in neither); `throttled_s`
  // (core seconds that its cgroups were throttled; the largest of the nested groups). `quota_cores` (smallest
  // quota of its cgroups) and `allowed_cores` (affinity mask of the thread that made this object). Null if
  // Linux does not say, or if there is no quota.
  nlohmann::json seen() const;

 private:
  struct Look {
    std::map<int, std::pair<double, double>> threads;  // by id: seconds that it ran, and waited
    std::vector<double> throttled_s;                   // of each cgroup
  };
  static Look look();

  int allowed_cores_;
  double ran_s_ = 0, waited_s_ = 0;  // before the last pause
  std::vector<double> throttled_s_;  // the same
  Look since_;                       // the last resume
  bool paused_ = false;
};

}  // namespace hilbench
