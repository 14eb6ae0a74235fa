// Decides on slowdowns of a candidate against a baseline: ln(candidate time / baseline time), one value for
// each pair of fresh processes.
//
// A whole gate raises a false alarm with a probability of at most kFalseAlarms, however many cases it judges:
// an alarm needs two rounds of independent processes, and each round may look twice. So one look of one round
// of one case has the level sqrt(kFalseAlarms / cases) / 2 (Bonferroni over cases and looks).
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "reports/records/stats.hpp"

namespace hilbench {

inline constexpr double kFalseAlarms = 0.01;
inline constexpr std::size_t kLooks = 2;  // the second after twice as many processes as the first
inline constexpr double kDefaultThreshold = 0.025;

struct GateRule {
  double threshold = kDefaultThreshold;  // a share: slowdowns up to it are accepted
  double alarm_level = 0;                // of one look of one round of one case, one-sided
};
GateRule gate_rule(double threshold, std::size_t judged_cases);
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
// - ok: its upper bound (97.5 %) is below the threshold, and a slowdown of the size of the threshold could
// have
//   been seen
// - undecided: otherwise, and always with fewer than two processes
GateVerdict decide(const Mean& slowdown, const GateRule& rule);

// The smallest true slowdown (a share) that one round with this error tells from none in nine of ten cases.
// An alarm asks for more: twice a lower bound above the threshold. Infinite if nothing is known of the error.
double smallest_seen(const Mean& slowdown, const GateRule& rule);

}  // namespace hilbench
