// Student's t distribution, and the order statistics that enclose a median.
#pragma once

#include <cstddef>
#include <optional>

#include "reports/records/record.hpp"

namespace hilbench {

// The value that Student's t with `freedom` degrees of freedom does not exceed with probability
// `probability` (inside 0 to 1).
double student_quantile(double probability, double freedom);
// The probability that it exceeds `t`.
double student_above(double t, double freedom);

// The probability of at least `count` successes in `trials` trials that each succeed with probability `rate`.
double binomial_at_least(std::size_t count, std::size_t trials, double rate);

// The exact interval of a rate (Clopper and Pearson 1934), 95 %, of `count` successes in `trials` trials.
Interval rate_interval(std::size_t count, std::size_t trials);

// The exact interval of a median, without any assumption on the distribution: the `rank`-th smallest and the
// `rank`-th largest of `count` values (counted from 1) enclose it with a probability of at least 95 %.
// Nothing if there are fewer than 6 values: they cannot.
std::optional<std::size_t> median_interval_rank(std::size_t count);

}  // namespace hilbench
