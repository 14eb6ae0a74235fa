// Runs a plan and stores its records.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "harness/plan/plan.hpp"
#include "harness/run/progress.hpp"
#include "harness/run/resume.hpp"
#include "harness/run/task_runner.hpp"
#include "harness/sweep/sweep.hpp"

namespace hilbench {

// mix_builds: resume, whatever build and processor measured the results that are there.
enum class Start { resume, mix_builds, fresh };

struct RunOptions {
  std::filesystem::path folder;  // of the results
  Start start = Start::resume;
  Processes processes = Processes::of_sweep;
  Retry retry = Retry::once;
  std::filesystem::path dump;  // empty: none
  std::string command;         // as typed; stored with the records
};

struct RunSummary {
  // Records of this plan, including resumed ones, without twins unless they failed.
  std::int64_t ok = 0, failed = 0, invalid = 0, skipped = 0;
  std::int64_t resumed = 0;                                       // comparisons that the store already held
  std::int64_t processes = 0;                                     // that measured a comparison, the fewest
  std::map<Status, std::map<std::string, std::int64_t>> reasons;  // of records that are not ok, counted
};

// Measures every comparison of `plan` that the store does not hold yet, process by process: the first process
// of all comparisons, then the second of all, and so on. Commits a comparison after each process; one that is
// measured again, once as many processes as were stored have measured it. Throws UsageError if the folder
// cannot be used, or holds results of another build or a comparison measured with other settings;
// EnvironmentError if the store is lost; Interrupted after Ctrl-C. What was committed stays. `runner` runs
// the tasks, by default in worker processes. `stepped` is called after each process of a comparison; if it
// throws, the run ends.
RunSummary run_plan(const Sweep& sweep, const Plan& plan, const Site& site, const RunOptions& options,
                    Progress& progress, const TaskRunner& runner = nullptr,
                    const std::function<void(const Comparison&)>& stepped = nullptr);

}  // namespace hilbench
