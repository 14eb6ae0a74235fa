#include "reports/claims/claims.hpp"

#include <array>

namespace hilbench {

std::string_view to_string(ClaimVerdict verdict) {
  constexpr std::array<std::string_view, 6> kNames = {
      "reproduced", "smaller than claimed", "no difference shown", "contradicted",
      "mixed",      "not testable here"};
  return kNames[static_cast<std::size_t>(verdict)];
}

bool claims_a_gain(const ClaimRow& claim) {
  return claim.claimed.value_or(0) > 1 || claim.quantity == Quantity::break_even ||
         claim.quantity == Quantity::longest;
}

ClaimVerdict judge(double claimed, const Interval& measured) {
  const bool holds_one = measured.low <= 1 && measured.high >= 1;
  if (claimed == 1) return holds_one ? ClaimVerdict::reproduced : ClaimVerdict::contradicted;
  if (holds_one) return ClaimVerdict::no_difference;
  if (claimed > 1 && measured.low > 1)
    return measured.high >= claimed ? ClaimVerdict::reproduced : ClaimVerdict::smaller_than_claimed;
  if (claimed < 1 && measured.high < 1)
    return measured.low <= claimed ? ClaimVerdict::reproduced : ClaimVerdict::smaller_than_claimed;
  return ClaimVerdict::contradicted;
}

}  // namespace hilbench
