#include "reports/records/stats.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace hilbench {
namespace {

constexpr std::size_t kResamples = 2000;
constexpr std::size_t kFewestResamples = 400;
// Keeps a call short: with more than 100 values there are fewer resamples.
constexpr std::size_t kDrawsAllowed = 200'000;

// SplitMix64 (Steele, Lea, Flood 2014): the same on every platform, unlike the distributions of <random>.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(((next() >> 32) * bound) >> 32); }

 private:
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

// The place of the first value of each process; the last entry is the number of values.
std::vector<std::size_t> process_begins(const Rounds& rounds) {
  std::vector<std::size_t> begins = {0};
  for (const std::int64_t count : rounds.process_rounds)
    if (count > 0) begins.push_back(begins.back() + static_cast<std::size_t>(count));
  if (rounds.process_rounds.empty()) begins.push_back(rounds.ns.size());
  if (begins.back() != rounds.ns.size())
    throw std::invalid_argument("process_rounds do not add up to the samples");
  return begins;
}

// Values in ascending order, and the rank of each original value.
struct Ranked {
  std::vector<double> sorted;
  std::vector<std::size_t> rank;
};
Ranked rank_values(std::span<const double> values) {
  std::vector<std::size_t> by_rank(values.size());
  std::iota(by_rank.begin(), by_rank.end(), std::size_t{0});
  std::stable_sort(by_rank.begin(), by_rank.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  Ranked ranked{.sorted = std::vector<double>(values.size()),
                .rank = std::vector<std::size_t>(values.size())};
  for (std::size_t place = 0; place < by_rank.size(); ++place) {
    ranked.sorted[place] = values[by_rank[place]];
    ranked.rank[by_rank[place]] = place;
  }
  return ranked;
}

// Median of a resample, given as how often each rank was drawn; `total` draws together.
double median_of_counts(const std::vector<double>& sorted, const std::vector<std::uint32_t>& counts,
                        std::size_t total) {
  std::size_t rank = 0;
  std::size_t seen = counts[0];
  while (seen < (total + 1) / 2) seen += counts[++rank];
  const double low = sorted[rank];
  if (total % 2 == 1 || seen > total / 2) return low;
  while (counts[++rank] == 0) {
  }
  return (low + sorted[rank]) / 2;
}

// Medians of resamples. A resample is kept as counts of ranks, so it need not be sorted.
std::vector<double> resampled_medians(const Rounds& rounds, std::uint64_t seed) {
  const std::vector<std::size_t> begins = process_begins(rounds);
  const std::size_t processes = begins.size() - 1;
  const Ranked ranked = rank_values(rounds.ns);
  const std::size_t size = rounds.ns.size();
  const std::size_t resamples = std::clamp(kDrawsAllowed / size, kFewestResamples, kResamples);
  Generator generator(seed);
  std::vector<double> medians(resamples);
  std::vector<std::uint32_t> counts(size);
  for (double& resampled : medians) {
    std::fill(counts.begin(), counts.end(), 0);
    std::size_t total = 0;
    for (std::size_t drawn = 0; drawn < processes; ++drawn) {
      const std::size_t process = processes == 1 ? 0 : generator.below(processes);
      const std::size_t length = begins[process + 1] - begins[process];
      for (std::size_t i = 0; i < length; ++i)
        ++counts[ranked.rank[begins[process] + generator.below(length)]];
      total += length;
    }
    resampled = median_of_counts(ranked.sorted, counts, total);
  }
  return medians;
}

// The interval that holds the middle 95 % of the values.
Interval percentiles(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t tail = values.size() / 40;  // 2.5 % on each side
  return {values[tail], values[values.size() - 1 - tail]};
}

}  // namespace

double median(std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> copy(values.begin(), values.end());
  const auto middle = copy.begin() + static_cast<std::ptrdiff_t>(copy.size() / 2);
  std::nth_element(copy.begin(), middle, copy.end());
  if (copy.size() % 2 == 1) return *middle;
  return (*std::max_element(copy.begin(), middle) + *middle) / 2;
}

Interval median_interval(const Rounds& rounds, std::uint64_t seed) {
  if (rounds.ns.empty()) return {median({}), median({})};
  return percentiles(resampled_medians(rounds, seed));
}

Ratio paired_ratio(const Rounds& reference, const Rounds& variant, std::uint64_t seed) {
  if (reference.process_rounds != variant.process_rounds || reference.ns.size() != variant.ns.size())
    throw std::invalid_argument("rounds of the two variants do not pair");
  Rounds ratios{.ns = std::vector<double>(reference.ns.size()), .process_rounds = reference.process_rounds};
  for (std::size_t i = 0; i < ratios.ns.size(); ++i) ratios.ns[i] = reference.ns[i] / variant.ns[i];
  return {median(ratios.ns), median_interval(ratios, seed)};
}

Ratio unpaired_ratio(const Rounds& reference, const Rounds& variant, std::uint64_t seed) {
  if (reference.ns.empty() || variant.ns.empty()) throw std::invalid_argument("a ratio of no samples");
  const std::vector<double> above = resampled_medians(reference, seed);
  const std::vector<double> below = resampled_medians(variant, seed + 1);
  std::vector<double> ratios(std::min(above.size(), below.size()));
  for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] = above[i] / below[i];
  return {median(reference.ns) / median(variant.ns), percentiles(std::move(ratios))};
}

Verdict verdict_of(const Interval& ratio) {
  if (ratio.low > 1) return Verdict::faster;
  if (ratio.high < 1) return Verdict::slower;
  return Verdict::inconclusive;
}

bool sign_settled(const Interval& ratio, std::size_t processes) {
  const double low = 1 - kProcessSpread, high = 1 + kProcessSpread;
  return processes > 1 || verdict_of(ratio) == Verdict::inconclusive || ratio.high < low || ratio.low > high;
}

// Williams (1949): the sequence 0, 1, n-1, 2, n-2, ... and its n rotations; odd n needs the
// reversed ones too.
std::vector<std::size_t> round_order(std::size_t variants, std::size_t round) {
  std::vector<std::size_t> order(variants);
  if (variants == 0) return order;
  for (std::size_t place = 0; place < variants; ++place) {
    const std::size_t first = place % 2 == 1 ? (place + 1) / 2 : (variants - place / 2) % variants;
    order[place] = (first + round) % variants;
  }
  if (round / variants % 2 == 1) std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace hilbench
