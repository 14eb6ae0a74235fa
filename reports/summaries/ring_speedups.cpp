#include "reports/summaries/ring_speedups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "reports/records/stats.hpp"
#include "reports/tables/by_case.hpp"
#include "reports/tables/ring_rows.hpp"
#include "reports/tables/rivals.hpp"
#include "reports/tables/variant_rows.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

// The kernel in linear order on one rank and the same work; "" if it was not measured.
std::string one_rank_time(const View& view, Case work) {
  work.ring_size = 1;
  for (const CaseView& of_case : view.cases) {
    if (!(*of_case.work == work)) continue;
    for (const Record* record : of_case.records)
      if (is_plain_linear(*record) && record->status == Status::ok && record->time)
        return time_text(record->time->median_ns);
  }
  return "";
}

struct PredictedRings {
  std::string algorithm;
  std::vector<double> errors, ratios;  // predicted / measured
  std::size_t inside = 0;              // of the predicted intervals

  void add(const RingRow& row) {
    const double measured = row.record->time->median_ns;
    ratios.push_back(row.predicted->ns / measured);
    errors.push_back(std::abs(ratios.back() - 1));
    inside += row.predicted->ci_ns.low <= measured && measured <= row.predicted->ci_ns.high;
  }
};

std::vector<PredictedRings> predicted_rings(const View& view) {
  const std::vector<RingRow> rows = ring_rows(view);
  std::int64_t fitted = 0;
  for (const RingRow& row : rows)
    if (row.predicted && row.predicted->fitted) fitted = std::max(fitted, row.record->work.ring_size);
  std::vector<PredictedRings> algorithms;
  for (const RingRow& row : rows) {
    if (!row.predicted || row.record->work.ring_size <= fitted) continue;
    auto known = std::find_if(algorithms.begin(), algorithms.end(), [&](const PredictedRings& each) {
      return each.algorithm == row.record->ring_algorithm;
    });
    if (known == algorithms.end())
      known = algorithms.insert(known, PredictedRings{.algorithm = row.record->ring_algorithm});
    known->add(row);
  }
  return algorithms;
}

}  // namespace

Table ring_speedups_table(const View& view) {
  std::vector<std::string> variants;
  std::vector<CaseRow> rows;
  std::vector<std::string> cases;  // of the rows
  for (const RingRow& row : ring_rows(view)) {
    if (!row.speedup) continue;
    const Record& record = *row.record;
    auto known = std::find(cases.begin(), cases.end(), record.case_id);
    if (known == cases.end()) {
      known = cases.insert(known, record.case_id);
      rows.push_back({.first = {{whole_case_text(record.work)},
                                {std::to_string(record.work.ring_size)},
                                {std::to_string(row.speedup->processes)},
                                {one_rank_time(view, record.work)}},
                      .cells = {}});
    }
    rows[static_cast<std::size_t>(known - cases.begin())].cells[record.variant_id] = {
        ratio_text(row.speedup->ratio, row.speedup->ci), tone_of(row.speedup->verdict)};
    if (std::find(variants.begin(), variants.end(), record.variant_id) == variants.end())
      variants.push_back(record.variant_id);
  }
  return by_case_table("ring_speedups", "",
                       {{"case", "case (segment/dilation)", Align::wrapped},
                        {"ranks", "ranks", Align::right},
                        {"processes", "processes", Align::right},
                        {"one_rank", "one rank, linear order", Align::right}},
                       variants, rows);
}

Table predicted_rings_table(const View& view) {
  using P = const PredictedRings&;
  const std::vector<ColumnOf<PredictedRings>> columns = {
      {{"algorithm", "algorithm"}, [](P p) { return Cell{p.algorithm}; }},
      {{"rings", "rings", Align::right}, [](P p) { return Cell{std::to_string(p.errors.size())}; }},
      {{"median_error", "median error", Align::right},
       [](P p) { return Cell{percent_text(median(p.errors))}; }},
      {{"worst_error", "worst error", Align::right},
       [](P p) { return Cell{percent_text(*std::max_element(p.errors.begin(), p.errors.end()))}; }},
      {{"inside", "inside the interval", Align::right},
       [](P p) { return Cell{fmt::format("{} of {}", p.inside, p.errors.size())}; }},
      {{"ratio", "predicted / measured", Align::right}, [](P p) {
         const auto [low, high] = std::minmax_element(p.ratios.begin(), p.ratios.end());
         return Cell{fmt::format("{:.3f} to {:.3f}", *low, *high)};
       }}};
  return make_table<PredictedRings>("predicted_rings", "", columns, predicted_rings(view));
}

}  // namespace hilbench
