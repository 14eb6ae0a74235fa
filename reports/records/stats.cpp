#include "reports/records/stats.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "reports/records/student.hpp"

namespace hilbench {
namespace {

std::vector<double> logarithms(std::span<const double> values) {
  std::vector<double> logs(values.size());
  std::transform(values.begin(), values.end(), logs.begin(), [](double value) { return std::log(value); });
  return logs;
}

Interval exponentials(const Interval& logs) {
  return {std::exp(logs.low), std::exp(logs.high)};
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

double hodges_lehmann(std::span<const double> values) {
  std::vector<double> means;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j) means.push_back((values[i] + values[j]) / 2);
  return median(means);
}

std::vector<std::span<const double>> by_process(const Rounds& rounds) {
  std::vector<std::span<const double>> processes;
  std::span<const double> left(rounds.ns);
  for (const std::int64_t count : rounds.process_rounds) {
    const auto size = static_cast<std::size_t>(std::max<std::int64_t>(count, 0));
    if (size > left.size()) throw std::invalid_argument("process_rounds do not add up to the samples");
    if (size > 0) processes.push_back(left.first(size));
    left = left.subspan(size);
  }
  if (rounds.process_rounds.empty() && !left.empty())
    processes.push_back(left);
  else if (!left.empty())
    throw std::invalid_argument("process_rounds do not add up to the samples");
  return processes;
}

Mean mean_of(std::span<const double> values) {
  if (values.empty()) return {std::numeric_limits<double>::quiet_NaN(), 0, 0};
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  if (values.size() == 1) return {mean, 0, 0};
  return {mean, std::sqrt(squares / (count - 1) / count), count - 1};
}

Interval mean_interval(const Mean& mean, double confidence) {
  if (mean.freedom <= 0) return kUnknownInterval;
  const double reach = mean.error * student_quantile((1 + confidence) / 2, mean.freedom);
  return {mean.value - reach, mean.value + reach};
}

Interval interval_within(std::span<const double> values) {
  const std::optional<std::size_t> rank = median_interval_rank(values.size());
  if (!rank) return mean_interval(mean_of(values));
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return {sorted[*rank - 1], sorted[sorted.size() - *rank]};
}

std::vector<double> log_medians(const Rounds& rounds) {
  std::vector<double> logs;
  for (const std::span<const double> own : by_process(rounds)) logs.push_back(std::log(median(own)));
  return logs;
}

double time_median(const Rounds& rounds) {
  const std::vector<double> logs = log_medians(rounds);
  return logs.size() <= 1 ? median(rounds.ns) : std::exp(mean_of(logs).value);
}

Interval median_interval(const Rounds& rounds) {
  const std::vector<double> logs = log_medians(rounds);
  if (logs.empty()) return kUnknownInterval;
  if (logs.size() > 1) return exponentials(mean_interval(mean_of(logs)));
  if (median_interval_rank(rounds.ns.size())) return interval_within(rounds.ns);
  return exponentials(interval_within(logarithms(rounds.ns)));
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
