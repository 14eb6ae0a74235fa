#include "reports/site/order_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "reports/view/format.hpp"
#include "reports/view/table.hpp"

namespace hilbench {
namespace {

using RowKey = std::pair<bool, std::string>;  // windows, family
struct OrderCell {
  std::vector<double> ratios;
  Tally tally;
};
struct OrderColumn {
  std::string machine, page;
  std::map<RowKey, OrderCell> cells;
};

std::vector<OrderColumn> columns_of(const std::vector<MachineOverview>& machines) {
  std::vector<OrderColumn> columns;
  for (const MachineOverview& machine : machines) {
    OrderColumn column{.machine = machine.name, .page = machine.address + "/index.html", .cells = {}};
    for (const SweepOverview& sweep : machine.sweeps)
      for (const OrderEntry& entry : sweep.orders) {
        OrderCell& cell = column.cells[{entry.windows, entry.family}];
        cell.ratios.insert(cell.ratios.end(), entry.ratios.begin(), entry.ratios.end());
        cell.tally.add(entry.tally);
      }
    if (!column.cells.empty()) columns.push_back(std::move(column));
  }
  return columns;
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return std::sqrt(*middle * *std::max_element(values.begin(), middle));
}

// From -4, twice the time of linear order or more, to 4, half of it or less; 0 within 1 %.
int step_of(double ratio) {
  constexpr double kEqual = 0.01;
  const double doublings = std::log2(ratio);
  if (std::abs(ratio - 1) <= kEqual) return 0;
  const int steps = std::clamp(static_cast<int>(std::ceil(4 * std::abs(doublings))), 1, 4);
  return ratio > 1 ? steps : -steps;
}

std::string shade_of(int step) {
  if (step == 0) return "";
  return fmt::format(" class=\"{}-{}\"", step > 0 ? "gain" : "loss", std::abs(step));
}

std::string cell_html(const OrderColumn& column, const RowKey& row) {
  const auto found = column.cells.find(row);
  if (found == column.cells.end()) return "<td class=\"muted\"></td>";
  const double median = median_of(found->second.ratios);
  const Tally& tally = found->second.tally;
  const std::string text = fmt::format("{:.3f}", median);
  const std::string range =
      tally.cases == 1 ? ""
                       : fmt::format(", {} to {}", number_text(tally.low, 3), number_text(tally.high, 3));
  return fmt::format("<td{}>{}<br><small>{}{}</small></td>", shade_of(step_of(median)), html_text(text),
                     plural(tally.cases, "case", "cases"), range);
}

}  // namespace

std::string order_matrix_html(const std::vector<MachineOverview>& machines) {
  const std::vector<OrderColumn> columns = columns_of(machines);
  std::map<RowKey, std::size_t> rows;
  for (const OrderColumn& column : columns)
    for (const auto& [row, cell] : column.cells) rows[row] += cell.tally.cases;
  if (rows.empty()) return "";
  std::string html =
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Orders by machine\">\n<table>\n"
      "<thead><tr><th scope=\"col\">order</th><th scope=\"col\">attention</th>";
  for (const OrderColumn& column : columns)
    html += fmt::format("<th scope=\"col\">{}</th>", link_html({column.page, column.machine}));
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& [row, cases] : rows) {
    html += fmt::format("<tr><td>{}</td><td>{}</td>", html_text(row.second),
                        row.first ? "windows on grids" : "dilated");
    for (const OrderColumn& column : columns) html += cell_html(column, row);
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table>\n</div>\n";
}

}  // namespace hilbench
