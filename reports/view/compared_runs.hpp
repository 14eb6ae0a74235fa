// `hilbench compare`: the times of two runs, case by case and variant by variant.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/view/input.hpp"
#include "reports/view/pairing.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// A case and variant that both runs have.
struct RunPair {
  const Record* a = nullptr;
  const Record* b = nullptr;
  // Time in A / time in B: above 1, B is faster. Rounds of different runs do not pair (unpaired_effect()).
  // Nothing if one of them has no time, or another process used the device.
  std::optional<Measured> ratio;
  std::string withheld;  // why there is no ratio; empty if there is one
  std::string differs;   // settings that differ although the ids are the same: "threads 2 / 4"
};

RunPair run_pair(const Record& a, const Record& b);  // refers to both

struct ComparedRuns {
  View a, b;
  std::vector<RunPair> pairs;                 // in the order of A
  std::vector<const Record*> only_a, only_b;  // in the order of their run
  // Values of the environments that differ: "host.cpu", and the values in each run. Machine and GPU come
  // first. What changes with every record (time, load, clocks, temperature, what each process saw) is left
  // out.
  struct Difference {
    std::string key, a, b;
  };
  std::vector<Difference> environment;
};
// Refers to both inputs, which must outlive it.
ComparedRuns compare_runs(const ReportInput& a, const ReportInput& b);

}  // namespace hilbench
