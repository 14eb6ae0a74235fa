#include "harness/launched/lead.hpp"

#include <chrono>
#include <memory>
#include <thread>

#include "harness/counters/counters.hpp"
#include "harness/launched/launched_rings.hpp"
#include "harness/run/repeated_events.hpp"
#include "harness/run/stop_signal.hpp"
#include "harness/worker/worker.hpp"
#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

// A launcher that lost a process ends the others. A failure counts as one of the variant only if that does
// not happen in this time.
constexpr std::chrono::milliseconds kSignalGrace{1500};
// While a program loads or a comparison takes long, rank 0 tells what is at work this often.
constexpr std::chrono::milliseconds kRepeat{1000};

}  // namespace

TaskRunner in_processes(LaunchedProcesses& processes) {
  return [&processes](const ComparisonTask& task, const std::function<void(const TaskEvent&)>& progress) {
    TaskResult result;
    RepeatedEvents events(progress, kRepeat);
    const auto tell = [&](const TaskEvent& event) {
      if (stop_signal() != 0) throw Interrupted{};
      result.in_flight = event.variant_id;
      result.phase = event.phase;
      if (processes.broken().empty()) processes.keep_waiting();
      events.pass(event);
      if (event.record) result.settled.push_back(*event.record);
    };
    try {
      run_task(task, tell, std::make_unique<LaunchedRings>(processes, task));
    } catch (const std::exception& error) {
      result.failure = error.what();
    }
    close_counters();
    const auto end = std::chrono::steady_clock::now() + kSignalGrace;
    while (!processes.broken().empty() && stop_signal() == 0 && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (stop_signal() != 0) throw Interrupted{};
    return result;
  };
}

void expect_unbroken(const LaunchedProcesses& processes, const Comparison& comparison) {
  if (processes.broken().empty()) return;
  throw EnvironmentError({.what = "the ranks cannot go on",
                          .where = comparison.case_id,
                          .why = processes.broken(),
                          .remedy = "the same command resumes after this case"});
}

void end_followers(LaunchedProcesses& processes, int exit_status) {
  try {
    processes.tell(processes.size(), EndProcess{exit_status});
    processes.answers(processes.size(), {});
  } catch (const TransportError& error) {
    throw EnvironmentError({.what = "a rank does not end with the others",
                            .why = error.what(),
                            .remedy = "nothing is lost: what was measured is stored"});
  }
}

}  // namespace hilbench
