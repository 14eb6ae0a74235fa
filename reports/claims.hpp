// The claims of the seed reports as data (claims.yaml), and how measurement judges them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/record.hpp"

namespace hilbench {

struct ClaimRow {
  std::string claim_id;  // "hybrid-core"
  std::string title;
  std::string source;                     // seed and section
  std::string provenance;                 // measured | modelled | unsourced (a row's own wins)
  std::string metric;                     // speedup, peak_memory_gb, ...
  std::string configuration;              // what the row says of the case, as text; what is assumed is marked
  std::optional<Case> work;               // the case that would answer it; none where the row names no case
  std::optional<double> claimed;          // ratio standard / hilbert (c), or the value claimed
  std::optional<Interval> claimed_range;  // where low and high are given
  std::string note;
};

// All rows of all claims. Throws UsageError where the file is not a claims file. Empty path: embedded.
std::vector<ClaimRow> load_claims(const std::filesystem::path& file);

enum class ClaimVerdict { reproduced, smaller_than_claimed, no_difference, contradicted, not_testable };
std::string_view to_string(ClaimVerdict verdict);
// README, Claims: c > 1 against [l, u]; mirrored for c < 1.
ClaimVerdict judge(double claimed, const Interval& measured);

}  // namespace hilbench
