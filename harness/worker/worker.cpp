#include "harness/worker/worker.hpp"

#include <fcntl.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/worker/bench_inputs.hpp"
#include "harness/worker/phases.hpp"
#include "kernels/base/process/fail_point.hpp"
#include "kernels/base/process/nvtx.hpp"
#include "kernels/base/process/pipe.hpp"

namespace hilbench {
namespace {

// Passed when the supervisor has been told what begins or has ended.
constexpr std::array kFailPoints = {"worker_prepare", "worker_verify", "worker_time", "worker_count"};
static_assert(kFailPoints.size() == kPhases.size());

}  // namespace

void run_task(const ComparisonTask& task, const std::function<void(const TaskEvent&)>& tell,
              std::unique_ptr<RingHost> rings) {
  const NvtxRange in_case(task.records.front().case_id);
  Turns turns(task.turns);
  tell({.phase = Phase::prepare});
  ComparisonPrograms programs(task);
  programs.start_all();
  Bench bench(task, std::move(rings));
  set_inputs(bench, programs);
  try {
    const TaskContext run{task, tell, bench, programs};
    std::vector<VerifiedVariant> variants = verified(run);
    if (task.verify == Verify::before_and_after) variants = probed(run, std::move(variants));
    variants = given_other_inputs(run, std::move(variants));
    if (!variants.empty()) variants = timed(run, turns, std::move(variants));
    if (!variants.empty()) counted(run, std::move(variants));
  } catch (...) {
    if (bench.lost()) bench.rings->device_lost();
    throw;
  }
}

int worker_main(int task_fd, int event_fd) {
  const auto write_json = [event_fd](const nlohmann::json& json) {
    write_all(event_fd, json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  };
  // Programs that this process starts must not keep its pipes open or write to them.
  if (::fcntl(task_fd, F_SETFD, FD_CLOEXEC) != 0 || ::fcntl(event_fd, F_SETFD, FD_CLOEXEC) != 0) return 126;
  try {
    const ComparisonTask task = task_from_json(nlohmann::json::parse(read_all(task_fd)));
    for (const int socket : {task.turns, task.fork_server})  // programs do not get them by themselves
      if (socket >= 0 && ::fcntl(socket, F_SETFD, FD_CLOEXEC) != 0) return 126;
    const std::string& case_id = task.records.at(0).case_id;
    run_task(task, [&](const TaskEvent& event) {
      write_json(to_json(event));
      fail_point(kFailPoints[static_cast<std::size_t>(event.phase)], {case_id, event.variant_id});
    });
    return 0;
  } catch (const std::exception& error) {
    write_json({{"error", error.what()}});
    return 1;
  }
}

}  // namespace hilbench
