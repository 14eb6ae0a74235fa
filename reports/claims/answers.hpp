// Claims compared with the records of a store.
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
  const CaseView* where = nullptr;  // null if no case answers it, or several do together
  ClaimVerdict verdict = ClaimVerdict::not_testable;
  std::string why;  // basis of the verdict, or why there is none
  std::optional<Measured> measured;
  std::optional<Measured> with_permutation;  // the time of one permutation added on the hilbert side
  std::optional<Measured> tokens;            // what the seeds ran: a different function, never judged
  std::optional<Measured> control;           // random order in hilbert's place
  std::vector<LevelAnswer> levels;           // of a claim about caches: every level, counted or not
};

// At least one answer for each claim, in the order of the claims; one for each case that answers it.
std::vector<ClaimAnswer> answer_claims(const std::vector<ClaimRow>& claims, const View& view);

// Sets the verdict by the interval. Adds to `why` if a single process does not settle the sign.
void settle(ClaimAnswer& answer);

// One ratio for many cases: the median, and an interval that spans all their intervals. Nothing if
// there are none.
std::optional<Measured> over_all(const std::vector<Measured>& each);

}  // namespace hilbench
