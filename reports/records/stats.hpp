// Statistics of samples of time. Everything is seeded, so results repeat.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reports/records/record.hpp"

namespace hilbench {

double median(std::span<const double> values);

// Samples of one variant: the rounds of process 0, then of process 1, ...
struct Rounds {
  std::vector<double> ns;
  std::vector<std::int64_t> process_rounds;
};

// 95 % bootstrap interval of the median. With one process, rounds are resampled. With several, processes are
// resampled first, then rounds inside them, because times differ between processes of one build.
Interval median_interval(const Rounds& rounds, std::uint64_t seed);

// Paired speedup of `variant` against `reference`: median over rounds of reference/variant, with its
// bootstrap interval. Rounds pair by process and index; both must have the same process_rounds.
struct Ratio {
  double value = 0;
  Interval ci;
};
Ratio paired_ratio(const Rounds& reference, const Rounds& variant, std::uint64_t seed);

// For samples that do not pair, such as those of two runs: the ratio of the medians,
// each resampled separately.
Ratio unpaired_ratio(const Rounds& reference, const Rounds& variant, std::uint64_t seed);

// `faster` if the interval lies above 1, `slower` if it lies below, otherwise `no_difference`.
Verdict verdict_of(const Interval& ratio);

// Two processes of one build may differ by this share without a cause.
inline constexpr double kProcessSpread = 0.01;
// True if it is settled on which side of 1 the interval lies. With one process it must stay kProcessSpread
// away from 1. True if the interval holds 1.
bool sign_settled(const Interval& ratio, std::size_t processes);

// The sequence in which `variants` run in round `round`. Over 2 * variants rounds, every variant takes every
// place equally often, and follows every other variant equally often (Williams design).
std::vector<std::size_t> round_order(std::size_t variants, std::size_t round);

}  // namespace hilbench
