#include "reports/tables/problems.hpp"

#include "reports/tables/variant_rows.hpp"

namespace hilbench {

Table problems_table(const View& view) {
  std::vector<VariantRow> rows;
  for (const VariantRow& row : variant_rows(view.cases))
    if (row.record->status != Status::ok) rows.push_back(row);
  using R = const VariantRow&;
  const std::vector<ColumnOf<VariantRow>> columns = {
      {{"case", "case"}, [](R r) { return text_cell(r.record->case_id); }},
      {{"variant", "variant"}, [](R r) { return text_cell(r.record->variant_id); }},
      {{"status", "status"},
       [](R r) { return text_cell(std::string(to_string(r.record->status)), tone_of(r.record->status)); }},
      {{"reason", "reason"},
       [](R r) { return text_cell(r.record->reason.empty() ? "none given" : r.record->reason); }},
  };
  return make_table<VariantRow>("problems", "", columns, rows);
}

}  // namespace hilbench
