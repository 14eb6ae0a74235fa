// Cells of a table by the key of their column.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "reports/view/table.hpp"

namespace hilbench {

inline std::string cell(const Table& table, std::size_t row, std::string_view key) {
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (table.columns[i].key == key) return table.rows.at(row).at(i).text;
  ADD_FAILURE() << "no column " << key;
  return "";
}

}  // namespace hilbench
