// One process that imports PyTorch for all programs of a run (baselines/external/fork_server.py).
#pragma once

#include <memory>

#include "harness/measure/comparison_task.hpp"

namespace hilbench {

// Belongs to the process that starts the workers, and lives as long as the run. Its destructor ends the
// server and all its forks; they also end when this process is killed.
class ForkServer {
 public:
  // The variable by which a program learns of the server. If the environment has it, no server is started.
  static constexpr const char* kVariable = "HILBENCH_FORK_SERVER";

  // Starts nothing.
  ForkServer();
  ~ForkServer();

  // For ComparisonTask::fork_server: a socket that programs inherit, and that lives as long as this. Starts
  // the server if it is not running and a program of the task can be forked. -1 if none can, and if there is
  // no server: whatever is wrong then, each program finds and says.
  int socket_for(const ComparisonTask& task);

 private:
  class Process;
  std::unique_ptr<Process> process_;
  bool tried_ = false;
};

}  // namespace hilbench
