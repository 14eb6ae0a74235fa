#include "reports/tables/window_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "reports/records/stats.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

constexpr double kFollows = 0.1;  // if no time is further from its line, time is said to follow the pairs
constexpr std::size_t kFewestDifferent = 3;  // numbers of computed pairs: two make a line that fits exactly

// Time = fixed_ns + ns_per_pair * pairs.
struct Line {
  double fixed_ns = 0, ns_per_pair = 0;
  double at(double pairs) const { return fixed_ns + ns_per_pair * pairs; }
};

struct TimedPairs {
  const CaseView* of_case = nullptr;
  const Record* record = nullptr;
  Line line;
  double predicted_ns() const { return line.at(record->pairs->computed); }
  double residual() const { return record->time->median_ns / predicted_ns() - 1; }
};

// The line with the least sum of squared relative errors: each error is divided by its time. `x` must hold
// two different values.
Line fitted(const std::vector<double>& x, const std::vector<double>& y) {
  double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double weight = 1 / (y[i] * y[i]);
    w += weight, wx += weight * x[i], wy += weight * y[i];
    wxx += weight * x[i] * x[i], wxy += weight * x[i] * y[i];
  }
  const double slope = (w * wxy - wx * wy) / (w * wxx - wx * wx);
  return {(wy - slope * wx) / w, slope};
}

std::vector<TimedPairs> fits_of(const View& view) {
  std::vector<TimedPairs> rows;
  for (const CaseView& of_case : view.cases) {
    std::map<std::string, std::vector<const Record*>> kernels;
    for (const Record* record : of_case.records)
      if (record->pairs && record->status == Status::ok && record->time && record->time->median_ns > 0)
        kernels[record->kernel].push_back(record);
    for (const auto& [kernel, records] : kernels) {
      std::vector<double> x, y;
      for (const Record* record : records) {
        x.push_back(record->pairs->computed);
        y.push_back(record->time->median_ns);
      }
      if (std::set<double>(x.begin(), x.end()).size() < kFewestDifferent) continue;
      const Line line = fitted(x, y);
      for (const Record* record : records) rows.push_back({&of_case, record, line});
    }
  }
  return rows;
}

}  // namespace

Table window_times_table(const View& view) {
  using R = const TimedPairs&;
  const std::vector<ColumnOf<TimedPairs>> columns = {
      {{"case", "case"}, [](R r) { return Cell{r.of_case->case_id}; }},
      {{"variant", "variant"}, [](R r) { return Cell{r.record->variant_id}; }},
      {{"computed", "computed pairs", Align::right},
       [](R r) { return Cell{fmt::format("{:.4g}", r.record->pairs->computed)}; }},
      {{"time", "time", Align::right, Show::page},
       [](R r) { return Cell{time_text(r.record->time->median_ns)}; }},
      {{"time_ns", "", Align::right, Show::data},
       [](R r) { return Cell{data_text(r.record->time->median_ns)}; }},
      {{"predicted", "a + b x computed", Align::right, Show::page},
       [](R r) { return Cell{time_text(r.predicted_ns())}; }},
      {{"predicted_ns", "", Align::right, Show::data}, [](R r) { return Cell{data_text(r.predicted_ns())}; }},
      {{"fixed_ns", "", Align::right, Show::data}, [](R r) { return Cell{data_text(r.line.fixed_ns)}; }},
      {{"ns_per_pair", "", Align::right, Show::data},
       [](R r) { return Cell{data_text(r.line.ns_per_pair)}; }},
      {{"residual", "time / predicted - 1", Align::right},
       [](R r) { return Cell{fmt::format("{:+.1f} %", 100 * r.residual())}; }}};
  return make_table<TimedPairs>("window_times", "Time by computed pairs", columns, fits_of(view));
}

std::string window_times_sentence(const View& view) {
  std::set<const CaseView*> cases;
  std::vector<double> residuals;
  const TimedPairs* worst = nullptr;
  const std::vector<TimedPairs> rows = fits_of(view);
  for (const TimedPairs& row : rows) {
    cases.insert(row.of_case);
    residuals.push_back(std::abs(row.residual()));
    if (worst == nullptr || std::abs(row.residual()) > std::abs(worst->residual())) worst = &row;
  }
  if (rows.empty()) return "";
  const double most = std::abs(worst->residual());
  return fmt::format(
      "{} {} compared with the line a + b x computed pairs that fits the case best: a time differs from its "
      "line by {} in the median, and by {} at most ({}).",
      most <= kFollows ? "Time follows the pairs that tiles compute."
                       : "Time does not follow the pairs that tiles compute in all cases.",
      plural(rows.size(), "time was", "times were"), percent_text(median(residuals)), percent_text(most),
      worst->record->variant_id);
}

}  // namespace hilbench
