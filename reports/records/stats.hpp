// Statistics of timing samples. Everything is seeded and repeatable.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reports/records/record.hpp"

namespace hilbench {

double median(std::span<const double> values);

// Samples of one variant as it measured them: rounds of process 0, then of process 1, ...
struct Rounds {
  std::vector<double> ns;
  std::vector<std::int64_t> process_rounds;
};

// 95 % bootstrap interval of the median. One process: rounds are resampled; several: processes are resampled
// first, then rounds inside them (the process is the unit for claims between runs).
Interval median_interval(const Rounds& rounds, std::uint64_t seed);

// Paired speedup of `variant` against `reference`: median over rounds of reference/variant, with its
// bootstrap interval. Rounds pair by process and index; both must have the same process_rounds.
struct Ratio {
  double value = 0;
  Interval ci;
};
Ratio paired_ratio(const Rounds& reference, const Rounds& variant, std::uint64_t seed);

// The same of samples that do not pair, those of two runs: the ratio of the medians, each resampled by
// itself.
Ratio unpaired_ratio(const Rounds& reference, const Rounds& variant, std::uint64_t seed);

// faster if the interval lies above 1, slower if below, else no difference shown.
Verdict verdict_of(const Interval& ratio);

// What two processes of one build may differ by without a cause.
inline constexpr double kProcessSpread = 0.01;
// Whether the side of 1 on which the interval lies can be told from `processes`: one process alone tells it
// only where the interval stays kProcessSpread away from 1. True where it holds 1.
bool sign_settled(const Interval& ratio, std::size_t processes);

// Order in which `variants` run in round `round`: every variant takes every place equally often, and follows
// every other equally often (Williams design), over 2 * variants rounds.
std::vector<std::size_t> round_order(std::size_t variants, std::size_t round);

}  // namespace hilbench
