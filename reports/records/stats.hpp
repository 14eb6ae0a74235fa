// Samples of time: medians and their intervals, and the sequence in which samples are taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "reports/records/record.hpp"

namespace hilbench {

double median(std::span<const double> values);  // NaN if there are none
// The centre of values that scatter alike to both sides: the median of the means of all pairs of them, each
// with itself too (Hodges and Lehmann 1963). Hardly less exact than the mean, and not moved by outliers.
double hodges_lehmann(std::span<const double> values);  // NaN if there are none

// Samples of one variant: the rounds of process 0, then of process 1, ... Without `process_rounds` all are of
// one process.
struct Rounds {
  std::vector<double> ns;
  std::vector<std::int64_t> process_rounds;
};

// The rounds of each process that has any. Throws std::invalid_argument if process_rounds do not add up.
std::vector<std::span<const double>> by_process(const Rounds& rounds);

// ln(median) of each process.
std::vector<double> log_medians(const Rounds& rounds);

// Not known: both ends are NaN.
inline constexpr Interval kUnknownInterval = {std::numeric_limits<double>::quiet_NaN(),
                                              std::numeric_limits<double>::quiet_NaN()};

// One process: the median of its rounds. Several: the geometric mean of their medians.
double time_median(const Rounds& rounds);
// Its 95 % interval. Several processes: Student's t over the logarithms of their medians. One process: two of
// its rounds that enclose the median (exact), or with fewer than 6 rounds Student's t over their logarithms.
// Unknown if there is only one value.
Interval median_interval(const Rounds& rounds);

// The mean of values with Student's t: its standard error and degrees of freedom, 0 if there is one value.
struct Mean {
  double value = 0;
  double error = 0;
  double freedom = 0;
};
Mean mean_of(std::span<const double> values);
// value +- error * quantile; unknown if nothing is known of the error.
Interval mean_interval(const Mean& mean, double confidence = 0.95);
// The interval of the median of `values` in one process, as median_interval() has it.
Interval interval_within(std::span<const double> values);

// The sequence in which `variants` run in round `round`. Over 2 * variants rounds, every variant takes every
// place equally often, and follows every other variant equally often (Williams design).
std::vector<std::size_t> round_order(std::size_t variants, std::size_t round);

}  // namespace hilbench
