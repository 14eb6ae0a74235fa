// Sees programs that compute while other variants are timed.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "kernels/case/case.hpp"

namespace hilbench {

// Reads the processor time of all that descends from this process around the samples of variants. Only the
// program that is asked may use a processor.
class IdleWatch {
 public:
  // programs[v]: the process of variant v; 0: it is none.
  IdleWatch(std::vector<pid_t> programs, DeviceKind device);

  // Looks for new processes. Those that begin between two looks count from the second one on.
  void look();
  void before_sample(std::size_t v);
  void after_sample(std::size_t v);
  // Waits for a while in which no program may compute. Does not wait if there is no program.
  void rest();

  // What computed while it should not have.
  struct Burner {
    std::optional<std::size_t> variant;  // whose program it is; nothing: a process that cut its ties
    double cores = 0;                    // busy in the mean
    double seconds = 0;                  // of samples of others
  };
  std::optional<Burner> found() const;

 private:
  // Processor time so far of each program and all that descends from it, by its process; of processes that no
  // program is an ancestor of any more, under 0.
  std::map<pid_t, double> used() const;
  void begin();
  void end(pid_t asked);  // 0: no program

  const std::vector<pid_t> programs_;
  const double most_cores_;
  std::map<pid_t, std::set<pid_t>> processes_;  // as used() has them
  std::map<pid_t, double> before_;
  double begin_s_ = 0;
  struct Total {
    double used_s = 0, seconds = 0;
  };
  std::map<pid_t, Total> idle_;
};

}  // namespace hilbench
