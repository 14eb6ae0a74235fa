#include "reports/summaries/energy.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "reports/tables/by_case.hpp"
#include "reports/view/format.hpp"

namespace hilbench {

Table energy_table(const View& view) {
  std::vector<std::string> variants;
  std::vector<CaseRow> rows;
  for (const CaseView& of_case : view.cases) {
    CaseRow row{.first = {{whole_case_text(*of_case.work)}}, .cells = {}};
    for (const Record* record : of_case.records) {
      if (!record->verify || !record->energy || record->energy->samples_j.empty()) continue;
      row.cells[record->variant_id] = {number_text(record->energy->median_j, 3)};
      if (std::find(variants.begin(), variants.end(), record->variant_id) == variants.end())
        variants.push_back(record->variant_id);
    }
    if (!row.cells.empty()) rows.push_back(std::move(row));
  }
  return by_case_table("energy", "", {{"case", "case (segment/dilation)", Align::wrapped}}, variants, rows);
}

}  // namespace hilbench
