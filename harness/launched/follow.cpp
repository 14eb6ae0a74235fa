#include "harness/launched/follow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#include <utility>

#include "harness/counters/counters.hpp"
#include "harness/launched/hosted_ranks.hpp"
#include "harness/launched/launched_rings.hpp"
#include "harness/run/make_task.hpp"
#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

// If a ring fails, these ranks wait for rank 0 to report it and to end all processes.
constexpr std::chrono::milliseconds kLeaderGrace{5000};
constexpr std::chrono::milliseconds kTurn{500};  // one rank reports and ends all before the next tries

// The rings of one comparison on a process that follows.
class Follower {
 public:
  Follower(LaunchedProcesses& processes, ComparisonTask task) : task_(std::move(task)) {
    const Case& work = task_.records.front().work;
    std::string fault;
    try {
      if (processes.rank() < work.ring_size)
        bench_ = std::make_unique<Bench>(task_, std::make_unique<LaunchedRings>(processes, task_));
    } catch (const std::exception& error) {
      fault = error.what();
    }
    ranks_ = std::make_unique<HostedRanks>(processes, work, bench_.get(), task_.records, fault);
  }
  ProcessAnswer obey(const ProcessCommand& command) { return ranks_->obey(command); }

 private:
  const ComparisonTask task_;
  std::unique_ptr<Bench> bench_;
  std::unique_ptr<HostedRanks> ranks_;
};

std::unique_ptr<Follower> follower_of(LaunchedProcesses& processes, const AgreedRun& run,
                                      const BeginComparison& begin) {
  const auto& comparisons = run.plan.comparisons;
  const auto at = std::find_if(comparisons.begin(), comparisons.end(), [&](const Comparison& comparison) {
    return comparison.case_id == begin.case_id;
  });
  ComparisonTask task = make_task(run.sweep, *at, run.site, {});
  task.measure.seed = begin.seed;
  return std::make_unique<Follower>(processes, std::move(task));
}

int obey_all(LaunchedProcesses& processes, const AgreedRun& run) {
  std::unique_ptr<Follower> follower;
  for (;;) {
    const ProcessCommand command = processes.hear();
    if (const auto* end = std::get_if<EndProcess>(&command)) {
      processes.answer({});
      return end->exit_status;
    }
    if (const auto* begin = std::get_if<BeginComparison>(&command)) {
      follower = follower_of(processes, run, *begin);
    } else if (std::holds_alternative<EndComparison>(command)) {
      follower.reset();
      close_counters();
    } else if (std::holds_alternative<CallRoll>(command)) {
      processes.set_broken("a ring of other ranks failed");
    } else {
      processes.answer(follower->obey(command));
    }
    if (processes.broken().empty()) continue;
    processes.call_roll();
    throw TransportError(processes.broken());
  }
}

}  // namespace

int follow(LaunchedProcesses& processes, const AgreedRun& run) {
  std::string why;
  try {
    return obey_all(processes, run);
  } catch (const std::exception& error) {
    why = error.what();
  }
  // Normally rank 0 reports the failure and ends all before this time is over.
  std::this_thread::sleep_for(kLeaderGrace + processes.rank() * kTurn);
  fmt::print(stderr, "hilbench: error: rank {} of {}: {}\n", processes.rank(), processes.size(), why);
  processes.abandon(static_cast<int>(ExitCode::environment));
}

}  // namespace hilbench
