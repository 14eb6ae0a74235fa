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
  const Record* record = nullptr;   // that of the variant there
  ClaimVerdict verdict = ClaimVerdict::not_testable;
  std::string why;  // basis of the verdict, or why there is none
  std::optional<Measured> measured;
  std::optional<Measured> with_permutation;  // the time of one permutation added on the side of the variant
  std::optional<Measured> beside;            // what computes a different function in its place: never judged
  std::optional<Measured> random;            // random order in its place
  std::optional<Measured> against_random;    // random order / the variant
  // Against the first control that was measured: time of the control / time of the variant; above 1, the
  // variant is faster.
  std::optional<Measured> against_control;
  std::string control_name;         // "dilated/linear.gathered"; empty if none was measured
  Dtype dtype = Dtype::fp32;        // that was measured
  bool other_dtype = false;         // the claim is about another one; such answers stand apart
  std::vector<LevelAnswer> levels;  // of a claim about caches: every level, counted or not
};

// At least one answer for each claim, in the order of the claims; one for each case that answers it, or, if
// all cases answer together, for each dtype.
std::vector<ClaimAnswer> answer_claims(const std::vector<ClaimRow>& claims, const View& view);

// Claims of the seed reports and of papers are told and counted apart.
enum class ClaimOrigin { report, paper };
std::vector<ClaimAnswer> answers_of(ClaimOrigin origin, const std::vector<ClaimAnswer>& answers);

// True if the verdict is about a gain: the claim says that there is one, and was not reproduced by a measured
// equality, which a claim within the margin can be.
bool is_about_a_gain(const ClaimAnswer& answer);

// Sets the verdict by what was measured. Adds to `why` what leaves it open.
void settle(ClaimAnswer& answer);

// "measured in bf16, claimed in fp32": why the answer stands apart. "in bf16": the dtype of the cases that it
// is over. "" if the answer is in the dtype of the claim.
std::string dtype_remark(const ClaimAnswer& answer);

}  // namespace hilbench
