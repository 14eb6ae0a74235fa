// Tables with one row for each case and one column for each variant.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reports/view/table.hpp"

namespace hilbench {

struct CaseRow {
  std::vector<Cell> first;            // of the columns before those of the variants
  std::map<std::string, Cell> cells;  // by variant; others stay empty
};

// `variants`: their columns, in this sequence.
Table by_case_table(std::string name, std::string caption, std::vector<Column> first,
                    const std::vector<std::string>& variants, const std::vector<CaseRow>& rows);

}  // namespace hilbench
