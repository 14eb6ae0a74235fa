// The supervisor: runs tasks in worker processes and outlives whatever happens to them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/task.hpp"

namespace hilbench {

// Whether the user asked to stop (SIGINT, SIGTERM, SIGHUP); the signal's number, or 0. Set by handlers that
// catch_stop_signals installs; a signal that was ignored already (nohup) stays ignored.
int stop_signal();
void catch_stop_signals();

// Thrown out of measure_comparison when stop_signal() is set: the worker is gone, nothing was recorded.
struct Interrupted {};

// The words of `task`'s variants, each settled: measured by one or more workers, or `failed` with the reason.
// A worker that crashes, is killed, or lets `timeout_s` pass without an event costs the variant in flight;
// the others start again in a new worker. Workers die with this process.
std::vector<Record> run_in_worker(const Task& task, double timeout_s,
                                  const std::function<void(const Event&)>& progress);

// The same `measure.processes` times over, samples joined, then medians, intervals and speedups.
std::vector<Record> measure_comparison(const Task& task, const std::function<void(const Event&)>& progress);

// Medians with intervals, rates, and speedups against `reference` (an index into records, or none). Value to
// value: what measure_comparison does once the samples are there.
void finish_statistics(std::vector<Record>& records, std::optional<std::size_t> reference,
                       std::uint64_t seed);

}  // namespace hilbench
