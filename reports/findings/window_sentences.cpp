// Orders against raster order.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "reports/findings/headline.hpp"
#include "reports/findings/linear_pairs.hpp"
#include "reports/findings/sentences.hpp"
#include "reports/view/format.hpp"

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

struct WindowOrders {
  std::vector<WindowOrder> orders;  // that faster in most cases first; of equals, the one that gains most
  Span raster_computed;
  std::size_t cases = 0;
};
WindowOrders window_orders(const View& view) {
  std::map<std::string, WindowOrder> orders;
  WindowOrders found;
  std::set<const CaseView*> cases;
  for (const LinearPair& pair : linear_pairs(view)) {
    if (!pair.ordered->pairs || !pair.linear->pairs) continue;
    WindowOrder& order = orders[pair.ordered->variant_id];
    order.variant = pair.ordered->variant_id;
    order.add(pair.ratio);
    order.computed.add(pair.ordered->pairs->computed / pair.ordered->pairs->needed);
    const double raster = pair.linear->pairs->computed / pair.linear->pairs->needed;
    order.raster_computed.add(raster);
    found.raster_computed.add(raster);
    cases.insert(pair.where);
  }
  found.cases = cases.size();
  for (auto& [variant, order] : orders) found.orders.push_back(std::move(order));
  std::ranges::stable_sort(found.orders, std::ranges::greater(), [](const WindowOrder& order) {
    return std::pair(order.tally.with(Verdict::faster), order.speedup.low);
  });
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
