// The hidden command that worker processes run: `worker TASK_FD EVENT_FD`.
#include "harness/worker/worker.hpp"

#include <memory>
#include <vector>

#include "harness/command_line/command_line.hpp"

namespace hilbench {

void add_worker(Commands& commands) {
  auto pipes = std::make_shared<std::vector<int>>();
  Options options = commands.add(
      "worker", "", [pipes] { return static_cast<ExitCode>(worker_main(pipes->at(0), pipes->at(1))); });
  options.arguments("FDS", *pipes, 2);
}

}  // namespace hilbench
