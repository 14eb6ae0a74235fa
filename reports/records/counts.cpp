#include "reports/records/counts.hpp"

#include "reports/records/stats.hpp"

namespace hilbench {

std::vector<double> counts_of(const Counter& counter) {
  if (!counter.counts.empty() || !counter.value) return counter.counts;
  return {*counter.value};
}

void add_counts(std::map<std::string, Counter>& total, const std::map<std::string, Counter>& further) {
  for (const auto& [name, counter] : further) {
    const auto [at, first] = total.try_emplace(name, counter);
    if (first) continue;
    Counter& sum = at->second;
    if (sum.source == "layout") continue;  // exact
    const std::vector<double> more = counts_of(counter);
    if (!sum.value || more.empty()) continue;
    sum.counts = counts_of(sum);
    sum.counts.insert(sum.counts.end(), more.begin(), more.end());
    sum.value = median(sum.counts);
    sum.ranks = counter.ranks;
  }
}

}  // namespace hilbench
