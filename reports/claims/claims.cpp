#include "reports/claims/claims.hpp"

#include <array>
#include <cmath>

namespace hilbench {
namespace {

constexpr double kRounding = 1e-12;  // a claim of 1.01 lies within a margin of 0.01

Verdict mirrored(Verdict verdict) {
  if (verdict == Verdict::faster) return Verdict::slower;
  return verdict == Verdict::slower ? Verdict::faster : verdict;
}

Measured mirrored(const Measured& measured) {
  Measured other = measured;
  other.ratio = 1 / measured.ratio;
  other.ci = {1 / measured.ci.high, 1 / measured.ci.low};
  other.verdict = mirrored(measured.verdict);
  return other;
}

}  // namespace

std::string_view to_string(ClaimVerdict verdict) {
  constexpr std::array<std::string_view, 7> kNames = {
      "reproduced",     "no gain",      "contradicted",     "smaller than claimed",
      "claim excluded", "inconclusive", "not testable here"};
  return kNames[static_cast<std::size_t>(verdict)];
}

bool claims_a_gain(const ClaimRow& claim) {
  return claim.claimed.value_or(0) > 1 || claim.quantity == Quantity::break_even ||
         claim.quantity == Quantity::longest;
}

ClaimVerdict judge_claim(double claimed, const Measured& measured, std::optional<Verdict> control) {
  if (claimed < 1) {
    if (control) control = mirrored(*control);
    return judge_claim(1 / claimed, mirrored(measured), control);
  }
  const bool exact = measured.processes == 0, no_difference = claimed == 1;
  // A claim within the margin of 1 says that there is neither gain nor loss.
  const bool gain = std::log(claimed) > std::log1p(measured.margin) + kRounding;
  const ClaimVerdict open =
      gain && measured.ci.high < claimed ? ClaimVerdict::excluded : ClaimVerdict::inconclusive;
  if (measured.verdict == Verdict::equivalent) return gain ? ClaimVerdict::no_gain : ClaimVerdict::reproduced;
  if (measured.verdict == Verdict::faster && no_difference) return ClaimVerdict::contradicted;
  if (measured.verdict == Verdict::slower) {
    if (exact || control == Verdict::slower) return ClaimVerdict::contradicted;
    return control ? ClaimVerdict::no_gain : open;
  }
  if (no_difference) return ClaimVerdict::inconclusive;
  if (measured.ci.high >= claimed && measured.ci.low > 1 + (claimed - 1) / 2) return ClaimVerdict::reproduced;
  if (measured.verdict == Verdict::faster && measured.ci.high < claimed)
    return ClaimVerdict::smaller_than_claimed;
  return open;
}

}  // namespace hilbench
