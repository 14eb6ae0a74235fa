#include "reports/tables/window_pairs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "reports/view/format.hpp"
#include "reports/view/pairing.hpp"

namespace hilbench {
namespace {

// Of one variant, over the cases.
struct Span {
  double low = 0, high = 0;
  void add(double value) {
    low = high == 0 ? value : std::min(low, value);
    high = std::max(high, value);
  }
  std::string text() const {
    const std::string first = fmt::format("{:.2f}", low), last = fmt::format("{:.2f}", high);
    return first == last ? first : first + " to " + last;
  }
};
struct WindowOrder {
  Span speedup, computed;
  std::size_t cases = 0, faster = 0, slower = 0, of_few_processes = 0;

  void add(const Measured& ratio) {
    speedup.add(ratio.ratio);
    ++cases;
    faster += ratio.verdict == Verdict::faster;
    slower += ratio.verdict == Verdict::slower;
    of_few_processes += ratio.verdict == Verdict::inconclusive && ratio.processes == 2;
  }
  std::string verdicts() const {
    if (of_few_processes == cases) return "too few processes for a verdict";
    return fmt::format("faster in {} of {}, slower in {}", faster, cases, slower);
  }
};

// The record of a case that stores everything in raster order and is the same in all else.
const Record* raster_of(const CaseView& of_case, const Record& ordered) {
  const auto found = std::find_if(of_case.records.begin(), of_case.records.end(), [&](const Record* record) {
    return record->pairs && record->kernel == ordered.kernel && record->variant.kernel().order == "linear" &&
           record->variant.kernel().tiles == ordered.variant.kernel().tiles &&
           record->variant.kernel().traversal == ordered.variant.kernel().traversal;
  });
  return found == of_case.records.end() ? nullptr : *found;
}

}  // namespace

Table window_pairs_table(const View& view) {
  std::vector<const Record*> rows;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records)
      if (record->pairs) rows.push_back(record);
  using R = const Record* const&;
  const auto percent = [](double share) { return fmt::format("{:.2f} %", 100 * share); };
  const std::vector<ColumnOf<const Record*>> columns = {
      {{"case", "case"}, [](R r) { return Cell{r->case_id}; }},
      {{"variant", "variant"}, [](R r) { return Cell{r->variant_id}; }},
      {{"needed", "", Align::right, Show::data}, [](R r) { return Cell{data_text(r->pairs->needed)}; }},
      {{"computed", "", Align::right, Show::data}, [](R r) { return Cell{data_text(r->pairs->computed)}; }},
      {{"computed_over_needed", "computed / needed", Align::right},
       [](R r) { return Cell{fmt::format("{:.3f}", r->pairs->computed / r->pairs->needed)}; }},
      {{"density", "", Align::right, Show::data}, [](R r) { return Cell{data_text(r->pairs->density)}; }},
      {{"computed_share", "computed, of all pairs", Align::right, Show::page},
       [percent](R r) { return Cell{percent(r->pairs->density)}; }},
      {{"partial_blocks", "", Align::right, Show::data},
       [](R r) { return Cell{data_text(r->pairs->partial_blocks)}; }},
      {{"masked", "blocks of keys with a mask", Align::right, Show::page},
       [percent](R r) { return Cell{percent(r->pairs->partial_blocks)}; }},
      {{"time", "time", Align::right, Show::page},
       [](R r) { return Cell{r->time ? time_text(r->time->median_ns) : ""}; }}};
  return make_table("window_pairs", "Pairs of windows", columns, rows);
}

std::string windows_sentence(const View& view) {
  std::map<std::string, WindowOrder> orders;
  Span raster_computed;
  std::size_t cases = 0;
  for (const CaseView& of_case : view.cases) {
    bool compared = false;
    for (const Record* record : of_case.records) {
      if (!record->pairs || record->variant.kernel().order == "linear") continue;
      const Record* raster = raster_of(of_case, *record);
      const auto ratio = raster != nullptr ? time_ratio(*raster, *record) : std::nullopt;
      if (!ratio) continue;
      WindowOrder& order = orders[record->variant_id];
      order.add(*ratio);
      order.computed.add(record->pairs->computed / record->pairs->needed);
      raster_computed.add(raster->pairs->computed / raster->pairs->needed);
      compared = true;
    }
    cases += compared;
  }
  if (cases == 0) return "";
  std::vector<std::pair<std::string, WindowOrder>> sorted(orders.begin(), orders.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.second.speedup.low > b.second.speedup.low; });
  std::vector<std::string> parts;
  for (const auto& [variant, order] : sorted)
    parts.push_back(fmt::format("{} {}, {} ({})", variant, order.speedup.text(), order.verdicts(),
                                order.computed.text()));
  return fmt::format(
      "Windows on grids, time of raster order / time of the order, in {} (above 1, the order is faster; in "
      "brackets: pairs that its tiles compute / pairs needed, {} in raster order): {}.",
      plural(cases, "case", "cases"), raster_computed.text(), fmt::join(parts, "; "));
}

}  // namespace hilbench
