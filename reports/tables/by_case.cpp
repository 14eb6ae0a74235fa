#include "reports/tables/by_case.hpp"

#include <utility>

namespace hilbench {

Table by_case_table(std::string name, std::string caption, std::vector<Column> first,
                    const std::vector<std::string>& variants, const std::vector<CaseRow>& rows) {
  Table table{
      .name = std::move(name), .caption = std::move(caption), .columns = std::move(first), .rows = {}};
  for (const std::string& variant : variants) table.columns.push_back({variant, variant, Align::right});
  for (const CaseRow& row : rows) {
    std::vector<Cell>& cells = table.rows.emplace_back(row.first);
    for (const std::string& variant : variants) {
      const auto found = row.cells.find(variant);
      cells.push_back(found == row.cells.end() ? Cell{} : found->second);
    }
  }
  return table;
}

}  // namespace hilbench
