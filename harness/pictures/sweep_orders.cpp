#include "harness/pictures/sweep_orders.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "harness/pictures/footprint.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/case/windows.hpp"
#include "kernels/orders/order.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kMostPanels = 12;
constexpr std::int64_t kDrawnLength = 1024;
constexpr std::int64_t kDrawnRows = 32, kDrawnPlanes = 8, kDrawnRowsOfPlanes = 16;

// The first record of each order that a case compares, as the sweep lists them.
std::vector<const Record*> records_by_order(const CaseView& of_case) {
  std::vector<const Record*> records;
  std::set<std::string> seen;
  for (const Record* record : of_case.records) {
    if (record->variant.is_baseline()) continue;
    const KernelChoice& choice = record->variant.kernel();
    if (choice.order == "file" || choice.order == "auto") continue;
    if (seen.insert(order_text(choice)).second) records.push_back(record);
  }
  if (records.size() > kMostPanels) records.resize(kMostPanels);
  return records;
}

// The first case of the kind with the most orders; null if none has two.
const CaseView* case_with_most_orders(const View& view, PatternKind kind) {
  const CaseView* found = nullptr;
  std::size_t most = 1;
  for (const CaseView& of_case : view.cases) {
    if (of_case.work == nullptr || pattern_kind(*of_case.work) != kind) continue;
    const std::size_t orders = records_by_order(of_case).size();
    if (orders > most) found = &of_case;
    most = std::max(most, orders);
  }
  return found;
}

// Calls make(record) for each; what has no such order is left out.
template <class Make>
std::vector<Panel> panels_of(const std::vector<const Record*>& records, Make make) {
  std::vector<Panel> panels;
  for (const Record* record : records) try {
      panels.push_back(make(*record));
    } catch (const UsageError&) {
    }
  return panels;
}

std::string extents_text(const Case& work) {
  return fmt::format("{}", fmt::join(grid_of(work), " x "));
}

Panel path_panel(const Case& work, const KernelChoice& choice) {
  return {.name = order_text(choice),
          .grid = grid_of(work),
          .slots = order_slots(order_request(work, choice)),
          .footprint = std::nullopt};
}

// A part of the grid that can be drawn.
Case drawn_grid(Case work) {
  const bool planes = work.windows.size() > 2;
  for (std::size_t d = 0; d < work.windows.size(); ++d) {
    WindowDimension& dimension = work.windows[d];
    const std::int64_t most = !planes ? kDrawnRows : d == 0 ? kDrawnPlanes : kDrawnRowsOfPlanes;
    dimension.extent = std::min(dimension.extent, most);
    dimension.dilation = std::min(dimension.dilation, dimension.extent);
  }
  fill_in_windows(work);
  return work;
}

void add_grid_strips(const CaseView& of_case, std::vector<Strip>& strips) {
  const std::vector<const Record*> records = records_by_order(of_case);
  const Case drawn = drawn_grid(*of_case.work);
  strips.push_back({.title = fmt::format("Orders on {} positions", extents_text(drawn)),
                    .panels = panels_of(records, [&](const Record& record) {
                      return path_panel(drawn, record.variant.kernel());
                    })});
  if (of_case.work->sequence_length > kMostDrawnPositions) return;
  std::vector<std::int64_t> windows;
  for (const WindowDimension& dimension : of_case.work->windows) windows.push_back(dimension.window);
  strips.push_back({.title = fmt::format("One tile: windows of {} on {}", fmt::join(windows, " x "),
                                         extents_text(*of_case.work)),
                    .panels = panels_of(records, [&](const Record& record) {
                      std::optional<double> ratio;
                      if (record.pairs) ratio = record.pairs->computed / record.pairs->needed;
                      const KernelChoice& choice = record.variant.kernel();
                      return Panel{.name = order_text(choice),
                                   .grid = grid_of(*of_case.work),
                                   .slots = {},
                                   .footprint = footprint_of(*of_case.work, choice, ratio)};
                    })});
}

Strip sequence_strip(const CaseView& of_case) {
  Case work{.sequence_length = kDrawnLength, .pattern = {{kDrawnLength, 1}}, .kv_heads = 8};
  std::int64_t dilation = 1;
  for (const Branch& branch : of_case.work->pattern) dilation = std::max(dilation, branch.dilation);
  work.pattern.front().dilation = std::min(dilation, kDrawnLength);
  return {.title = dilation == 1 ? fmt::format("Orders of {} positions", kDrawnLength)
                                 : fmt::format("Orders of {} positions, dilation {}", kDrawnLength,
                                               work.pattern.front().dilation),
          .panels = panels_of(records_by_order(of_case), [&](const Record& record) {
            KernelChoice choice = record.variant.kernel();
            choice.order_chunk = std::min(choice.order_chunk, kDrawnLength);
            return path_panel(work, choice);
          })};
}

}  // namespace

std::string order_text(const KernelChoice& choice) {
  if (!choice.order_box.empty()) return fmt::format("{}.{}", choice.order, fmt::join(choice.order_box, "."));
  return choice.order_param ? fmt::format("{}.{}", choice.order, *choice.order_param) : choice.order;
}

std::vector<Strip> order_strips(const View& view) {
  std::vector<Strip> strips;
  if (const CaseView* of_grid = case_with_most_orders(view, PatternKind::windows))
    add_grid_strips(*of_grid, strips);
  else if (const CaseView* of_branches = case_with_most_orders(view, PatternKind::branches))
    strips.push_back(sequence_strip(*of_branches));
  std::erase_if(strips, [](const Strip& strip) { return strip.panels.size() < 2; });
  return strips;
}

void add_order_pictures(ReportInput& input) {
  for (const Strip& strip : order_strips(view_of(input)))  // one of paths or slots, one of footprints
    input.order_pictures.push_back({.name = strip.panels.front().footprint ? "footprints" : "orders",
                                    .title = strip.title,
                                    .caption = strip_caption(strip),
                                    .svg = strip_svg(strip)});
}

}  // namespace hilbench
