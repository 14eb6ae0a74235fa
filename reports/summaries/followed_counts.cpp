#include "reports/summaries/followed_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include "reports/summaries/effects.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

constexpr double kStrong = 0.6;  // from here on a speedup is said to follow a count
constexpr std::size_t kFewestInTable = 3, kFewestInSentence = 12;  // pairs

struct FollowedCount {
  std::string name, source;
  std::size_t pairs = 0;
  std::optional<double> correlation;  // nothing if the count or the speedup never changes
};

// Time in other words, which a speedup follows whatever the reason: clocks, cycles, and shares of the time.
bool tells_time(const std::string& name, const Counter& counter) {
  return counter.source == "measured" || counter.unit == "ns" || counter.unit == "percent" ||
         name.find("cycle") != std::string::npos;
}

// From 0; equal values share the mean of their ranks.
std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t at = 0, end = 0; at < order.size(); at = end) {
    while (end < order.size() && values[order[end]] == values[order[at]]) ++end;
    for (std::size_t i = at; i < end; ++i) ranks[order[i]] = static_cast<double>(at + end - 1) / 2;
  }
  return ranks;
}

std::optional<double> rank_correlation(const std::vector<double>& xs, const std::vector<double>& ys) {
  const std::vector<double> x = ranks_of(xs), y = ranks_of(ys);
  const double mean = static_cast<double>(x.size() - 1) / 2;
  double xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
    xy += (x[i] - mean) * (y[i] - mean);
  }
  if (xx == 0 || yy == 0) return std::nullopt;
  return xy / std::sqrt(xx * yy);
}

std::vector<FollowedCount> followed_counts(const View& view) {
  struct Points {
    std::string source;
    std::vector<double> counts, speedups;  // of the variant / of the reference; over it
  };
  std::map<std::string, Points> by_name;
  for (const VariantPair& pair : variant_pairs(view))
    for (const auto& [name, counter] : pair.record->counters) {
      const std::optional<double> theirs = counter_value(*pair.reference, name);
      if (!counter.value || !theirs || *counter.value <= 0 || *theirs <= 0) continue;
      if (tells_time(name, counter)) continue;
      Points& points = by_name[name];
      points.source = counter.source;
      points.counts.push_back(*counter.value / *theirs);
      points.speedups.push_back(pair.record->speedup->ratio);
    }
  std::vector<FollowedCount> found;
  for (const auto& [name, points] : by_name)
    if (points.counts.size() >= kFewestInTable)
      found.push_back(
          {name, points.source, points.counts.size(), rank_correlation(points.counts, points.speedups)});
  std::stable_sort(found.begin(), found.end(), [](const FollowedCount& a, const FollowedCount& b) {
    return std::abs(a.correlation.value_or(0)) > std::abs(b.correlation.value_or(0));
  });
  return found;
}

}  // namespace

Table followed_counts_table(const View& view) {
  using F = const FollowedCount&;
  const std::vector<ColumnOf<FollowedCount>> columns = {
      {{"count", "count"}, [](F f) { return Cell{f.name}; }},
      {{"source", "source"}, [](F f) { return Cell{f.source}; }},
      {{"pairs", "pairs", Align::right}, [](F f) { return Cell{std::to_string(f.pairs)}; }},
      {{"correlation", "rank correlation with the speedup", Align::right},
       [](F f) { return Cell{f.correlation ? fmt::format("{:+.2f}", *f.correlation) : "never changes"}; }}};
  return make_table<FollowedCount>("followed_counts", "", columns, followed_counts(view));
}

std::string followed_count_sentence(const View& view) {
  const std::vector<FollowedCount> counts = followed_counts(view);
  const auto strongest = std::find_if(counts.begin(), counts.end(), [](const FollowedCount& count) {
    return count.correlation && count.pairs >= kFewestInSentence;
  });
  if (strongest == counts.end()) return "";
  return std::abs(*strongest->correlation) >= kStrong
             ? fmt::format("The speedup follows the count {} ({}): rank correlation {:+.2f}.",
                           strongest->name, strongest->source, *strongest->correlation)
             : fmt::format(
                   "The speedup follows no count: the strongest, {} ({}), has a rank correlation of {:+.2f}.",
                   strongest->name, strongest->source, *strongest->correlation);
}

}  // namespace hilbench
