// Decides on slowdowns of a candidate against a baseline: ln(candidate time / baseline time), one value for
// each pair of fresh processes.
//
// A whole gate raises a false alarm with a probability of at most kFalseAlarms, however many cases it judges:
// an alarm needs two rounds of independent processes. A round of one case has the level sqrt(kFalseAlarms /
// cases) (Bonferroni over cases), which its looks share out. Only what is undecided is looked at again, with
// more pairs.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "reports/records/stats.hpp"

namespace hilbench {

inline constexpr double kFalseAlarms = 0.01;
inline constexpr double kMissed = 0.05;  // a slowdown above the threshold is called ok at most so often
inline constexpr double kDefaultThreshold = 0.025;

// When a round is judged, and what share of its levels that look has. Most is decided by the first two; the
// others come only if the budget allows them.
struct GateLook {
  double processes;  // over those of the first look
  double share;
};
inline constexpr std::array<GateLook, 6> kLooks = {
    {{1, 0.4}, {2, 0.3}, {3.5, 0.1}, {6, 0.1}, {10, 0.05}, {17, 0.05}}};
inline constexpr std::size_t kSureLooks = 2;  // that every case gets, if the budget is not spent

struct GateRule {
  double threshold = kDefaultThreshold;  // a share: slowdowns up to it are accepted
  double alarm_level = 0;                // of one case, one-sided; of a whole round until it is shared out
  double missed_level = 0;               // the same of calling ok what is above the threshold

  // That of one look.
  GateRule at(std::size_t look) const {
    return {threshold, alarm_level * kLooks[look].share, missed_level * kLooks[look].share};
  }
};
GateRule gate_rule(double threshold, std::size_t judged_cases);
// Pairs of a round at this look, if the first comes after `processes`.
std::size_t pairs_at(std::size_t look, std::size_t processes);
// Throws UsageError if the threshold is 0: no measurement shows that nothing was lost at all. `option`: where
// it was given.
void expect_threshold(const std::optional<double>& threshold, std::string_view option);
// For stored results, which are looked at once: the level is kFalseAlarms / cases.
GateRule stored_rule(double threshold, std::size_t judged_cases);

enum class GateVerdict { ok, slower, faster, undecided };
std::string_view to_string(GateVerdict verdict);

// What one round says of a case.
// - slower: the lower bound of the slowdown is above the threshold
// - faster: its upper bound is below -threshold, at the same level
// - ok: its upper bound (at the level of what may be missed) is below the threshold, and a slowdown of the
// size of
//   the threshold could have been seen
// - undecided: otherwise, and always with fewer than two processes
GateVerdict decide(const Mean& slowdown, const GateRule& rule);

// The smallest true slowdown (a share) that one round with this error tells from none in nine of ten cases.
// An alarm asks for more: twice a lower bound above the threshold. Infinite if nothing is known of the error.
double smallest_seen(const Mean& slowdown, const GateRule& rule);

}  // namespace hilbench
