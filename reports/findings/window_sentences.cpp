// Orders against raster order.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "reports/findings/headline.hpp"
#include "reports/findings/sentences.hpp"
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
  std::string variant;
  Tally tally;
  Span speedup, computed, raster_computed;
  std::size_t of_few_processes = 0;

  void add(const Measured& ratio) {
    tally.add(ratio);
    speedup.add(ratio.ratio);
    of_few_processes += ratio.verdict == Verdict::inconclusive && ratio.processes == 2;
  }
  std::string verdicts() const {
    if (of_few_processes == tally.cases) return "too few processes for a verdict";
    return fmt::format("faster in {} of {}, slower in {}", tally.with(Verdict::faster), tally.cases,
                       tally.with(Verdict::slower));
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

struct WindowOrders {
  std::vector<WindowOrder> orders;  // the one that gains most first
  Span raster_computed;
  std::size_t cases = 0;
};
WindowOrders window_orders(const View& view) {
  std::map<std::string, WindowOrder> orders;
  WindowOrders found;
  for (const CaseView& of_case : view.cases) {
    bool compared = false;
    for (const Record* record : of_case.records) {
      if (!record->pairs || record->variant.kernel().order == "linear") continue;
      const Record* raster = raster_of(of_case, *record);
      const auto ratio = raster != nullptr ? time_ratio(*raster, *record) : std::nullopt;
      if (!ratio) continue;
      WindowOrder& order = orders[record->variant_id];
      order.variant = record->variant_id;
      order.add(*ratio);
      order.computed.add(record->pairs->computed / record->pairs->needed);
      order.raster_computed.add(raster->pairs->computed / raster->pairs->needed);
      found.raster_computed.add(raster->pairs->computed / raster->pairs->needed);
      compared = true;
    }
    found.cases += compared;
  }
  for (auto& [variant, order] : orders) found.orders.push_back(std::move(order));
  std::ranges::stable_sort(found.orders, std::ranges::greater(),
                           [](const WindowOrder& order) { return order.speedup.low; });
  return found;
}

}  // namespace

std::vector<Outcome> window_outcomes(const View& view) {
  const WindowOrders found = window_orders(view);
  std::vector<Outcome> outcomes;
  for (const WindowOrder& order : found.orders)
    outcomes.push_back({.what = order.variant,
                        .against = "raster order",
                        .tally = order.tally,
                        .remark = fmt::format("pairs computed / needed: {}, in raster order {}",
                                              order.computed.text(), order.raster_computed.text())});
  return outcomes;
}

std::string windows_sentence(const View& view) {
  const WindowOrders found = window_orders(view);
  if (found.cases == 0) return "";
  std::vector<std::string> parts;
  for (const WindowOrder& order : found.orders)
    parts.push_back(fmt::format("{} {}, {} ({})", order.variant, order.speedup.text(), order.verdicts(),
                                order.computed.text()));
  return fmt::format(
      "Windows on grids, time of raster order / time of the order, in {} (above 1, the order is faster; in "
      "brackets: pairs that its tiles compute / pairs needed, {} in raster order): {}.",
      plural(found.cases, "case", "cases"), found.raster_computed.text(), fmt::join(parts, "; "));
}

}  // namespace hilbench
