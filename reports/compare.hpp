// `hilbench compare`: the records of two runs side by side, case by case and variant by variant.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/base/error.hpp"
#include "reports/view/input.hpp"
#include "reports/view/pairing.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// One case and variant that both runs hold.
struct RunPair {
  const Record* a = nullptr;
  const Record* b = nullptr;
  // Time in A over time in B, above 1 where B is faster. The runs are other processes at other times, so that
  // nothing pairs: each median is resampled by itself. Nothing where one of them has no time, or another
  // process used the device.
  std::optional<Measured> ratio;
  std::string withheld;  // why there is no ratio; empty where there is one
  std::string differs;   // what the ids do not tell: "threads 2 / 4"
};

struct ComparedRuns {
  View a, b;
  std::vector<RunPair> pairs;                 // in A's order
  std::vector<const Record*> only_a, only_b;  // each in its run's order
  // "host.cpu" and the values of each run, where they differ: machine and GPU first. What changes with every
  // record (time, load, clocks, temperature) is left out.
  struct Difference {
    std::string key, a, b;
  };
  std::vector<Difference> environment;
};
// Points into both inputs, which must outlive it.
ComparedRuns compare_runs(const ReportInput& a, const ReportInput& b);

// What a gate of `percent` says: failed where the whole interval of some ratio says that B takes more than
// `percent` longer, or where a variant that was ok is failed or invalid in B; else inconclusive where an
// interval reaches beyond `percent`, where a variant that has a time in A has none in B, or where nothing
// could be compared; else done. `reasons`: one line for each pair that speaks against done, and one for what
// B lacks.
struct GateAnswer {
  ExitCode code = ExitCode::done;
  std::vector<std::string> reasons;
};
GateAnswer gate(const ComparedRuns& runs, double percent);

}  // namespace hilbench
