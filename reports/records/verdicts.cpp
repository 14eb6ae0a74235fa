#include "reports/records/verdicts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hilbench {
namespace {

// `above`, `below`: p-values against the margin, adjusted if the effect is one of a family.
Verdict decide(const Effect& effect, double margin, double above, double below) {
  const double bound = std::log1p(margin);
  const bool one = effect.processes <= 1;
  if (above <= kFalseVerdicts && (!one || effect.ci.low > bound)) return Verdict::faster;
  if (below <= kFalseVerdicts && (!one || effect.ci.high < -bound)) return Verdict::slower;
  if (one) return Verdict::inconclusive;
  const Interval inner = mean_interval(effect.mean, 0.90);
  return inner.low > -bound && inner.high < bound ? Verdict::equivalent : Verdict::inconclusive;
}

}  // namespace

std::vector<double> holm(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(p_values.size());
  double least = 0;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const auto left = static_cast<double>(order.size() - place);
    least = std::max(least, std::min(1.0, left * p_values[order[place]]));
    adjusted[order[place]] = least;
  }
  return adjusted;
}

Verdict verdict_of(const Effect& effect, double margin) {
  const double bound = std::log1p(margin);
  return decide(effect, margin, p_above(effect, bound), p_below(effect, -bound));
}

std::vector<Verdict> verdicts_of(std::span<const Effect> family, std::span<const double> margins) {
  std::vector<double> above, below;
  for (std::size_t i = 0; i < family.size(); ++i) {
    above.push_back(p_above(family[i], std::log1p(margins[i])));
    below.push_back(p_below(family[i], -std::log1p(margins[i])));
  }
  above = holm(above), below = holm(below);
  std::vector<Verdict> verdicts;
  for (std::size_t i = 0; i < family.size(); ++i)
    verdicts.push_back(decide(family[i], margins[i], above[i], below[i]));
  return verdicts;
}

Verdict verdict_of_exact(double ratio, double margin) {
  if (ratio > 1 + margin) return Verdict::faster;
  return ratio < 1 / (1 + margin) ? Verdict::slower : Verdict::equivalent;
}

}  // namespace hilbench
