// Which verdicts of a run replicate those that are published for the same sweep, on this machine or others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/document/document.hpp"
#include "reports/view/input.hpp"

namespace hilbench {

struct PublishedRun {
  std::string name;  // of its folder: "h100/gpu-peak"
  ReportInput input;
};

// How two verdicts on one thing stand to each other.
enum class Agreement {
  opposite,  // one says faster and the other slower, or one reproduces a claim that the other contradicts
  differs,   // both decide, otherwise than each other
  open,      // one of them is inconclusive
  same
};
std::string_view to_string(Agreement agreement);
Agreement agreement_of(Verdict a, Verdict b);
Agreement agreement_of(ClaimVerdict a, ClaimVerdict b);

// `run` held against each of `published`: comparisons of the same case, variant and reference, and claims.
Document agreement_document(const ReportInput& run, const std::vector<PublishedRun>& published);

}  // namespace hilbench
