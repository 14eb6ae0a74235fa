// The effect of a variant against its reference, on the scale of ln(reference / variant): above 0, the
// variant needs less. The process is the unit of evidence.
#pragma once

#include <cstddef>
#include <span>

#include "reports/records/stats.hpp"

namespace hilbench {

struct Effect {
  double centre = 0;          // the mean over processes; within one process the median over its rounds
  Interval ci;                // of the centre, 95 %
  Mean mean;                  // over processes; within one process over its rounds
  std::size_t processes = 0;  // 1: within one process, so nothing is known of how processes differ
};

// The difference a - b of two means whose values do not pair (Welch 1947). Nothing is known of its error if
// nothing is known of one of theirs.
Mean welch(const Mean& a, const Mean& b);

// `one` minus the mean of several values of its kind: it differs from their mean as they differ among
// themselves. Nothing is known of the error if there are fewer than two.
Mean difference_to_one(double one, const Mean& several);

// Rounds pair by process and index; both must have the same process_rounds, otherwise std::invalid_argument.
// Each process gives one value, the median over its rounds of ln(reference / variant).
Effect paired_effect(const Rounds& reference, const Rounds& variant);
// The same of the medians of each process, in the place of the median of ratios: effects between neighbours
// in a chain of variants add up to that between its ends.
Effect additive_effect(const Rounds& reference, const Rounds& variant);
// For samples that do not pair, such as those of two runs: the difference of the means over processes of
// ln(median), with the error and degrees of freedom of Welch (1947). If only one side has several processes,
// those of the other side are taken to differ as much. Throws std::invalid_argument if one side is empty.
Effect unpaired_effect(const Rounds& reference, const Rounds& variant);
// The same for counts, each of which is a unit of evidence of its own: `processes` is the number of counts of
// the side that has fewer.
Effect count_effect(std::span<const double> reference, std::span<const double> variant);

// The probability of a mean at least so far above `bound` if the true effect is `bound`; and below.
// 1 if nothing is known of the error.
double p_above(const Effect& effect, double bound);
double p_below(const Effect& effect, double bound);

// The centre and its 95 % interval as a ratio: reference / variant.
struct Ratio {
  double value = 0;
  Interval ci;
};
Ratio ratio_of(const Effect& effect);

}  // namespace hilbench
