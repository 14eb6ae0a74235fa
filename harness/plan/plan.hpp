// The plan: what a sweep will do on this site, as values. Nothing runs here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/plan/memory.hpp"
#include "harness/plan/site.hpp"
#include "harness/sweep/sweep.hpp"
#include "kernels/implementation.hpp"

namespace hilbench {

struct PlannedVariant {
  Variant variant;
  std::string id;
  const Implementation* implementation = nullptr;  // null only where `skip` says why
  std::optional<std::string> skip;                 // reason
  std::string measured_as;  // id of the variant that is the same on one rank and measured in its place
  std::optional<double> flops;
  std::optional<double> min_bytes;
  MemoryNeed own;  // of this variant beside what all share
  std::optional<double>
      memory_bytes;  // of the device: operands, permuted copies, index, workspace; of all ranks
  std::optional<double> comm_bytes;  // sent by all ranks in one execution
  std::string ring_algorithm;        // resolved; empty on one rank, and where no ring can be
  std::string transport;             // resolved, as above
  std::optional<double> seconds;     // estimate of one execution from nominal rates
};

struct Comparison {
  Case work;  // device resolved
  std::string case_id;
  std::int64_t threads = 1;  // resolved
  std::string gpu;           // its name, where the case runs on one
  std::vector<PlannedVariant> variants;
  std::optional<std::size_t> reference;  // index into variants; none where it is skipped
  bool runnable() const;                 // some variant is not skipped
};

struct Plan {
  std::vector<Comparison> comparisons;
};

Plan make_plan(const Sweep& sweep, const Site& site);
// Of one case.
Comparison plan_case(const Sweep& sweep, const SweepCase& swept, const Site& site);

}  // namespace hilbench
