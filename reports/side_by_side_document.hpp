// Two runs of unlike machines or builds side by side: what both measured, without a verdict.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "reports/document/document.hpp"
#include "reports/view/compared_runs.hpp"

namespace hilbench {

// A case and variant that both runs have. The case is the same but for its device and its number of threads.
struct SideBySide {
  const CaseView* where_a = nullptr;
  const CaseView* where_b = nullptr;
  RunPair pair;
};

// By length, then in the order of A. `runs` must outlive it.
std::vector<SideBySide> side_by_side(const ComparedRuns& runs);

Table side_by_side_table(const std::vector<SideBySide>& pairs);
// What draw() needs for the figures: the rates of both, and the speedups of both over their references.
nlohmann::json side_by_side_data(const ComparedRuns& runs, const std::vector<SideBySide>& pairs);
// `figures`: as drawn; `notes`: why one is missing.
Document side_by_side_document(const ComparedRuns& runs, const std::vector<SideBySide>& pairs,
                               const std::vector<Picture>& pictures, const std::vector<std::string>& notes);

}  // namespace hilbench
