// A table as text that fits a screen.
#pragma once

#include <string>

#include "reports/terminal/screen.hpp"
#include "reports/view/table.hpp"

namespace hilbench {

// Columns beside each other, without those that are data alone. If they do not fit the screen, as much as is
// needed of this happens: columns without any text go; a first column whose rows repeat it becomes headings;
// intervals behind times go; a long name has a line of its own; a long text stands under its row. What is
// still too wide stands row by row, each cell behind its title. A screen without a width takes any.
std::string table_text(const Table& table, const Screen& screen);

}  // namespace hilbench
