#include "reports/records/effect.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "reports/records/student.hpp"

namespace hilbench {
namespace {

Effect over_processes(std::span<const double> values) {
  const Mean mean = mean_of(values);
  return {.centre = mean.value, .ci = mean_interval(mean), .mean = mean, .processes = values.size()};
}

Effect within_one(std::span<const double> values) {
  return {.centre = median(values), .ci = interval_within(values), .mean = mean_of(values), .processes = 1};
}

// The logarithms of the medians of the processes; of the rounds if there is one process.
struct Side {
  std::vector<double> logs;
  std::size_t processes = 0;
};
Side side_of(const Rounds& rounds) {
  Side side{.logs = log_medians(rounds)};
  side.processes = side.logs.size();
  if (side.processes > 1) return side;
  side.logs.clear();
  for (const double ns : rounds.ns) side.logs.push_back(std::log(ns));
  return side;
}

// Both within one process: the interval reaches as far as both medians may lie apart.
Effect within_one(const Side& a, const Side& b) {
  const double of_a = median(a.logs), of_b = median(b.logs), centre = of_a - of_b;
  const Interval in_a = interval_within(a.logs), in_b = interval_within(b.logs);
  return {.centre = centre,
          .ci = {centre - std::hypot(of_a - in_a.low, in_b.high - of_b),
                 centre + std::hypot(in_a.high - of_a, of_b - in_b.low)},
          .mean = welch(mean_of(a.logs), mean_of(b.logs)),
          .processes = 1};
}

Effect of_mean(const Mean& mean, std::size_t processes) {
  return {.centre = mean.value, .ci = mean_interval(mean), .mean = mean, .processes = processes};
}

}  // namespace

Mean welch(const Mean& a, const Mean& b) {
  const double in_a = a.error * a.error, in_b = b.error * b.error, both = in_a + in_b;
  if (a.freedom <= 0 || b.freedom <= 0) return {a.value - b.value, 0, 0};
  const double freedom = both > 0 ? both * both / (in_a * in_a / a.freedom + in_b * in_b / b.freedom)
                                  : std::min(a.freedom, b.freedom);
  return {a.value - b.value, std::sqrt(both), freedom};
}

Mean difference_to_one(double one, const Mean& several) {
  const double values = several.freedom + 1;
  return {one - several.value, several.error * std::sqrt(1 + values), several.freedom};
}

Effect paired_effect(const Rounds& reference, const Rounds& variant) {
  const auto a = by_process(reference), b = by_process(variant);
  const bool pair = std::equal(a.begin(), a.end(), b.begin(), b.end(),
                               [](const auto& x, const auto& y) { return x.size() == y.size(); });
  if (!pair || a.empty()) throw std::invalid_argument("rounds of the two variants do not pair");
  std::vector<double> values;
  for (std::size_t process = 0; process < a.size(); ++process) {
    std::vector<double> rounds(a[process].size());
    for (std::size_t i = 0; i < rounds.size(); ++i) rounds[i] = std::log(a[process][i] / b[process][i]);
    if (a.size() == 1) return within_one(rounds);
    values.push_back(median(rounds));
  }
  return over_processes(values);
}

Effect additive_effect(const Rounds& reference, const Rounds& variant) {
  const Side a = side_of(reference), b = side_of(variant);
  if (a.logs.empty() || a.processes != b.processes)
    throw std::invalid_argument("processes of the two variants do not pair");
  if (a.processes == 1) return within_one(a, b);
  std::vector<double> values;
  for (std::size_t process = 0; process < a.processes; ++process)
    values.push_back(a.logs[process] - b.logs[process]);
  return over_processes(values);
}

Effect unpaired_effect(const Rounds& reference, const Rounds& variant) {
  const Side a = side_of(reference), b = side_of(variant);
  if (a.logs.empty() || b.logs.empty()) throw std::invalid_argument("a ratio of no samples");
  if (a.processes == 1 && b.processes == 1) return within_one(a, b);
  if (a.processes == 1) return of_mean(difference_to_one(median(a.logs), mean_of(b.logs)), 1);
  if (b.processes == 1) {
    Mean mean = difference_to_one(median(b.logs), mean_of(a.logs));
    mean.value = -mean.value;
    return of_mean(mean, 1);
  }
  return of_mean(welch(mean_of(a.logs), mean_of(b.logs)), std::min(a.processes, b.processes));
}

Effect count_effect(std::span<const double> reference, std::span<const double> variant) {
  const auto logs = [](std::span<const double> counts) {
    std::vector<double> made;
    for (const double count : counts) made.push_back(std::log(count));
    return made;
  };
  return of_mean(welch(mean_of(logs(reference)), mean_of(logs(variant))),
                 std::min(reference.size(), variant.size()));
}

double p_above(const Effect& effect, double bound) {
  const Mean& mean = effect.mean;
  if (mean.freedom <= 0 || !std::isfinite(mean.value) || !std::isfinite(mean.error)) return 1;
  if (mean.error == 0) return mean.value > bound ? 0 : 1;
  return student_above((mean.value - bound) / mean.error, mean.freedom);
}

double p_below(const Effect& effect, double bound) {
  Effect mirrored = effect;
  mirrored.mean.value = -effect.mean.value;
  return p_above(mirrored, -bound);
}

Ratio ratio_of(const Effect& effect) {
  return {std::exp(effect.centre), {std::exp(effect.ci.low), std::exp(effect.ci.high)}};
}

}  // namespace hilbench
