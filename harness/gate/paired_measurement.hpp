// Measures comparisons by pairs of fresh processes, one of each build.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/gate/gate_builds.hpp"
#include "harness/run/task_runner.hpp"

namespace hilbench {

// How long a gate may take: the pair that is measured when the budget ends has time to end.
double longest_s(const GateOptions& options);

// Throws UsageError if `folder` holds a store that is not a gate's, which save() would replace.
void refuse_other_results(const std::filesystem::path& folder);

// One build, and what its processes have measured of each comparison.
class MeasuredSide {
 public:
  // The build is stopped at `last`, whatever it does.
  MeasuredSide(const Build& build, double timeout_s, std::chrono::steady_clock::time_point last);
  // Measures the task in a fresh process. Returns the samples in ns of each variant that was measured.
  std::map<std::string, std::vector<double>> measure(const ComparisonTask& task, std::int64_t process);
  // The records of a comparison so far; empty if it was not measured.
  const std::vector<Record>& records(const std::string& case_id) const;
  // All records, with the environment of this machine and that build.
  std::vector<std::pair<std::string, std::vector<Record>>> finished(const Site& site) const;  // by case
  // Replaces the store in `folder` by these records.
  void save(const std::filesystem::path& folder, const Sweep& sweep, const Site& site) const;

 private:
  const Build& build_;
  TaskRunner runner_;
  std::map<std::string, std::vector<Record>> records_;
  std::vector<std::string> cases_;  // in the sequence first measured
};

// The slowdowns ln(candidate / baseline) of the pairs of one variant. That of a pair is the Hodges-Lehmann
// estimate over its rounds: both processes measured each round next to each other.
using Slowdowns = std::vector<double>;

class PairedMeasurement {
 public:
  PairedMeasurement(const Sweep& sweep, const Plan& plan, const Site& site, const Build& baseline,
                    const Build& candidate, const GateOptions& options);

  struct Subject {
    ComparisonTask task;  // of the baseline; the candidate's has injections
    ComparisonTask candidate_task;
    std::map<std::string, Slowdowns> slowdowns;  // of all rounds, by variant
    std::int64_t pairs = 0;                      // measured in all rounds
  };
  std::vector<Subject>& subjects() { return subjects_; }
  const MeasuredSide& baseline() const { return baseline_; }
  const MeasuredSide& candidate() const { return candidate_; }
  // True if work should be added to a ring, which cannot be: rings time themselves.
  bool rings_without_injection() const { return rings_without_injection_; }

  // Measures one more process of the subject with the candidate alone.
  void measure_candidate(Subject& subject);
  // Measures one more pair of processes of the subject, which take turns. Which build comes first alternates.
  void measure_pair(Subject& subject);
  void save(const std::filesystem::path& folder) const;
  // Why the machine was not fit to judge, by what the processes saw; empty if it was.
  std::vector<std::string> disturbances() const;

 private:
  const Sweep& sweep_;
  const Site& site_;
  MeasuredSide baseline_, candidate_;
  std::vector<Subject> subjects_;
  bool rings_without_injection_ = false;

  void inject(Record& record, double share);
};

// If measuring ends early, what was measured is kept.
template <class Measure, class Save>
void keep_if_stopped(const Measure& measure, const Save& save) {
  try {
    measure();
  } catch (...) {
    try {
      save();
    } catch (const std::exception&) {  // the first error says more
    }
    throw;
  }
}

}  // namespace hilbench
