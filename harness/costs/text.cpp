// Costs as a table for people.
#include <fmt/format.h>

#include <set>

#include "harness/costs/costs.hpp"

namespace hilbench {
namespace {

std::string cell(const CostRow& row, std::string_view name) {
  const auto found = row.costs.find(name);
  if (found == row.costs.end() || !found->second.value) return "-";
  return fmt::format("{:.15g}", *found->second.value);
}

std::string variant_rows(const std::vector<CostRow>& rows) {
  std::string text = fmt::format("{:<30} {:>14} {:>12} {:>12} {:>12} {:>14}  {}\n", "case / variant", "FLOPs",
                                 "min bytes", "memory", "sent", "instructions", "skip");
  std::string group;
  for (const CostRow& row : rows) {
    if (row.group != group) text += row.group + "\n";
    group = row.group;
    text += fmt::format("  {:<28} {:>14} {:>12} {:>12} {:>12} {:>14}  {}\n", row.name,
                        cell(row, cost::kFlops), cell(row, cost::kMinBytes), cell(row, cost::kMemoryBytes),
                        cell(row, cost::kCommBytes), cell(row, cost::kInstructions), row.skip);
  }
  return text;
}

std::string kernel_rows(const std::vector<CostRow>& rows) {
  if (rows.empty()) return "";
  std::string text = fmt::format("{:<8} {:>9} {:>13} {:>19}  {}\n", "GPU code", "registers", "spilled bytes",
                                 "static shared bytes", "kernel");
  for (const CostRow& row : rows)
    text += fmt::format("{:<8} {:>9} {:>13} {:>19}  {}\n", row.group, cell(row, cost::kRegisters),
                        cell(row, cost::kSpilledBytes), cell(row, cost::kStaticSharedBytes), row.name);
  return text;
}

std::string basis_text(const CostBasis& basis) {
  std::string text;
  for (const auto& [name, value] : basis)
    if (!value.empty()) text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", name, value);
  return text;
}

// Why costs are absent, each reason once.
std::string reasons_text(const std::vector<CostRow>& rows) {
  std::set<std::string> reasons;
  for (const CostRow& row : rows)
    for (const auto& [name, cost] : row.costs)
      if (!cost.value && cost.reason != row.skip)
        reasons.insert(fmt::format("no {}: {}\n", name, cost.reason));
  std::string text;
  for (const std::string& reason : reasons) text += reason;
  return text;
}

}  // namespace

std::string costs_text(const CostTable& table) {
  std::string text = variant_rows(table.variants) + kernel_rows(table.kernels) + reasons_text(table.variants);
  if (!table.instructions.taken_with.empty())
    text += fmt::format("instructions of one execution by one thread; {}\n",
                        basis_text(table.instructions.taken_with));
  if (table.kernels_basis.taken_with.empty())
    text += fmt::format("no costs of GPU kernels: {}\n", table.kernels_basis.absence);
  else
    text += fmt::format("GPU kernels of this build; {}\n", basis_text(table.kernels_basis.taken_with));
  return text;
}

}  // namespace hilbench
