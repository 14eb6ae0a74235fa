// The plan: what a sweep will do on this site, as values. Making it runs nothing.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/plan/memory.hpp"
#include "harness/plan/site.hpp"
#include "harness/sweep/sweep.hpp"
#include "kernels/base/text/refusal.hpp"
#include "kernels/implementation.hpp"
#include "reports/records/record.hpp"

namespace hilbench {

struct PlannedVariant : Resolved {
  const Implementation* implementation = nullptr;  // null only if `skip` says why
  Refusal skip;                                    // why it is not measured
  std::string measured_as;        // on one rank: the id of an equal variant, which is measured in its place
  MemoryNeed own;                 // what this variant needs besides what all variants share
  std::optional<double> seconds;  // estimate for one execution, from nominal rates
};

struct Comparison {
  Case work;  // device resolved
  std::string case_id;
  std::int64_t threads = 1;          // resolved
  std::string gpu;                   // its name, if the case runs on one
  std::int64_t multiprocessors = 0;  // of that GPU
  std::vector<PlannedVariant> variants;
  double claimed = 0;                    // of SweepCase
  std::optional<std::size_t> reference;  // index into variants; none if the reference is skipped
  bool runnable() const;                 // true if some variant is not skipped
};

struct Plan {
  std::vector<Comparison> comparisons;
};

// Told CASE/VARIANT before its pairs are counted, which may take minutes.
using CountNotice = std::function<void(const std::string& name)>;

// Both throw UsageError if a case of the processor takes its threads from an OMP_NUM_THREADS that is above
// the machine's.
Plan make_plan(const Sweep& sweep, const Site& site, const CountNotice& counting = {});
// About how long one process times the comparison: its share of the budget, or the fewest rounds of steady
// samples if they take longer. 0 if nothing is measured.
double timing_s(const Measure& measure, const Comparison& comparison);
// The comparison for one case of the sweep.
Comparison plan_case(const Sweep& sweep, const SweepCase& swept, const Site& site,
                     const CountNotice& counting = {});

}  // namespace hilbench
