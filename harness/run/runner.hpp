// Runs a plan into a store.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "harness/measure/comparison_task.hpp"
#include "harness/plan/plan.hpp"
#include "harness/run/progress.hpp"
#include "harness/run/supervisor.hpp"
#include "harness/sweep/sweep.hpp"

namespace hilbench {

enum class Start { resume, fresh };

struct RunOptions {
  std::filesystem::path folder;  // of the results
  Start start = Start::resume;
  std::filesystem::path dump;  // empty: none
  std::string command;         // as typed: kept with the records
};

struct RunSummary {
  std::int64_t ok = 0, failed = 0, invalid = 0, skipped = 0;      // records of this plan, resumed ones too
  std::int64_t resumed = 0;                                       // comparisons that were there already
  std::map<Status, std::map<std::string, std::int64_t>> reasons;  // records that are not ok by the reason
};

// Measures every comparison of `plan` that the store does not hold yet, committing each as it is done.
// Throws UsageError where the folder cannot be used or holds a comparison measured with other settings,
// EnvironmentError where the store is lost, Interrupted after Ctrl-C: what was committed stays. `runner` runs
// the tasks, by default in workers. `committed` is called after each comparison of this run; what it throws
// ends the run.
RunSummary run_plan(const Sweep& sweep, const Plan& plan, const Host& host, const RunOptions& options,
                    Progress& progress, const TaskRunner& runner = nullptr,
                    const std::function<void(const Comparison&)>& committed = nullptr);

// What a worker is asked to do for the variants of `comparison` that are not skipped. `dump`: see Task.
ComparisonTask make_task(const Sweep& sweep, const Comparison& comparison, const Host& host,
                         const std::filesystem::path& dump);

// What a comparison's records depend on: 16 hexadecimal digits for case, measure, inputs and counters, a
// colon, and as many, parted by commas, for each variant with all its options.
std::string fingerprint(const Sweep& sweep, const Comparison& comparison);
// Whether a comparison of the fingerprint `stored` holds all that `wanted` asks for: the same settings, and
// no variant less. So a run with a filter finds done what one without it did, but not the other way round.
bool covers(std::string_view stored, std::string_view wanted);

}  // namespace hilbench
