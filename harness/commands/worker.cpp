// The hidden commands of processes that a run starts: `worker TASK_FD EVENT_FD`, and `kernel-host LIBRARY`.
#include "harness/worker/worker.hpp"

#include <filesystem>
#include <memory>
#include <vector>

#include "harness/command_line/command_line.hpp"
#include "harness/external/kernel_host.hpp"

namespace hilbench {

void add_worker(Commands& commands) {
  auto pipes = std::make_shared<std::vector<int>>();
  Options options = commands.add(
      "worker", "", [pipes] { return static_cast<ExitCode>(worker_main(pipes->at(0), pipes->at(1))); });
  options.arguments("FDS", *pipes, 2);
}

void add_kernel_host(Commands& commands) {
  auto library = std::make_shared<std::filesystem::path>();
  Options options = commands.add("kernel-host", "",
                                 [library] { return static_cast<ExitCode>(kernel_host_main(*library)); });
  options.argument("LIBRARY", *library, "");
}

}  // namespace hilbench
