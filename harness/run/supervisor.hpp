// The supervisor: runs tasks in worker processes and outlives whatever happens to them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/measure/comparison_task.hpp"

namespace hilbench {

// Whether the user asked to stop (SIGINT, SIGTERM, SIGHUP); the signal's number, or 0. Set by handlers that
// catch_stop_signals installs; a signal that was ignored already (nohup) stays ignored.
int stop_signal();
void catch_stop_signals();

// Thrown out of measure_comparison when stop_signal() is set: the worker is gone, nothing was recorded.
struct Interrupted {};

// What came of running a task once.
struct TaskResult {
  std::vector<Record> settled;
  std::string failure;    // why it did not finish; empty where it did
  std::string in_flight;  // variant at work when it ended; empty: the comparison itself
  Phase phase = Phase::prepare;
};

// Runs a task once and passes on each event.
using TaskRunner = std::function<TaskResult(const ComparisonTask& task,
                                            const std::function<void(const TaskEvent&)>& progress)>;

// In a worker process. One that crashes, is killed, or lets `timeout_s` pass without an event fails. Workers
// die with this process.
TaskRunner in_worker(double timeout_s);

// The words of `task`'s variants, each settled: measured in one run or more, or `failed` with the reason. A
// run that fails costs the variant in flight; the others run again.
std::vector<Record> settle(const ComparisonTask& task, const TaskRunner& runner,
                           const std::function<void(const TaskEvent&)>& progress);

// The same `measure.processes` times over, samples joined, then medians, intervals and speedups. By default
// in workers.
std::vector<Record> measure_comparison(const ComparisonTask& task,
                                       const std::function<void(const TaskEvent&)>& progress,
                                       const TaskRunner& runner = nullptr);

// Medians with intervals, rates, and speedups against `reference` (an index into records, or none). Value to
// value: what measure_comparison does once the samples are there.
void finish_statistics(std::vector<Record>& records, std::optional<std::size_t> reference,
                       std::uint64_t seed);

}  // namespace hilbench
