// Claims held against the records of a store.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/claims/cache_levels.hpp"
#include "reports/claims/claims.hpp"
#include "reports/view/pairing.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// A claim against one case of the store, or the reason why it cannot be tested.
struct ClaimAnswer {
  const ClaimRow* claim = nullptr;
  const CaseView* where = nullptr;  // null where no case answers it
  ClaimVerdict verdict = ClaimVerdict::not_testable;
  std::string why;  // what the verdict rests on, or why there is none
  std::optional<Measured> measured;
  std::optional<Measured> with_permutation;  // one permutation added to the hilbert side
  std::optional<Measured> tokens;            // the seeds' variant: a different function, never judged
  std::optional<Measured> control;           // random order in hilbert's place
  std::vector<LevelAnswer> levels;           // of a claim about caches: each level with counters or why not
};

// At least one answer for each claim, in the claims' order; one for each case that answers it.
std::vector<ClaimAnswer> answer_claims(const std::vector<ClaimRow>& claims, const View& view);

// The verdict that the interval gives, and what a single process leaves open.
void settle(ClaimAnswer& answer);

// One ratio for many cases: the median, and an interval that reaches over all of theirs.
std::optional<Measured> over_all(const std::vector<Measured>& each);

}  // namespace hilbench
