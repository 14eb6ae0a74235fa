// Figures as a table for people.
#include <fmt/format.h>

#include <set>

#include "harness/gate/figures.hpp"

namespace hilbench {
namespace {

std::string cell(const FigureRow& row, std::string_view name) {
  const auto found = row.figures.find(name);
  if (found == row.figures.end() || !found->second.value) return "-";
  return fmt::format("{:.15g}", *found->second.value);
}

std::string variant_rows(const std::vector<FigureRow>& rows) {
  std::string text = fmt::format("{:<30} {:>14} {:>12} {:>12} {:>12} {:>14}  {}\n", "case / variant", "FLOPs",
                                 "min bytes", "memory", "sent", "instructions", "skip");
  std::string group;
  for (const FigureRow& row : rows) {
    if (row.group != group) text += row.group + "\n";
    group = row.group;
    text +=
        fmt::format("  {:<28} {:>14} {:>12} {:>12} {:>12} {:>14}  {}\n", row.name, cell(row, figure::kFlops),
                    cell(row, figure::kMinBytes), cell(row, figure::kMemoryBytes),
                    cell(row, figure::kCommBytes), cell(row, figure::kInstructions), row.skip);
  }
  return text;
}

std::string kernel_rows(const std::vector<FigureRow>& rows) {
  if (rows.empty()) return "";
  std::string text = fmt::format("{:<8} {:>9} {:>13} {:>19}  {}\n", "GPU code", "registers", "spilled bytes",
                                 "static shared bytes", "kernel");
  for (const FigureRow& row : rows)
    text += fmt::format("{:<8} {:>9} {:>13} {:>19}  {}\n", row.group, cell(row, figure::kRegisters),
                        cell(row, figure::kSpilledBytes), cell(row, figure::kStaticSharedBytes), row.name);
  return text;
}

std::string basis_text(const FigureBasis& basis) {
  std::string text;
  for (const auto& [name, value] : basis)
    if (!value.empty()) text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", name, value);
  return text;
}

// Why figures are absent, each reason once.
std::string reasons_text(const std::vector<FigureRow>& rows) {
  std::set<std::string> reasons;
  for (const FigureRow& row : rows)
    for (const auto& [name, figure] : row.figures)
      if (!figure.value && figure.reason != row.skip)
        reasons.insert(fmt::format("no {}: {}\n", name, figure.reason));
  std::string text;
  for (const std::string& reason : reasons) text += reason;
  return text;
}

}  // namespace

std::string figures_text(const FigureTable& table) {
  std::string text = variant_rows(table.variants) + kernel_rows(table.kernels) + reasons_text(table.variants);
  if (!table.instructions.taken_with.empty())
    text += fmt::format("instructions of one execution by one thread; {}\n",
                        basis_text(table.instructions.taken_with));
  if (table.kernels_basis.taken_with.empty())
    text += fmt::format("no figures of GPU kernels: {}\n", table.kernels_basis.absence);
  else
    text += fmt::format("GPU kernels of this build; {}\n", basis_text(table.kernels_basis.taken_with));
  return text;
}

}  // namespace hilbench
