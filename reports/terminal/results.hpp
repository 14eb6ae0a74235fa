// What a folder holds, for a terminal.
#pragma once

#include <functional>
#include <string>

#include "reports/terminal/rows.hpp"
#include "reports/view/input.hpp"

namespace hilbench {

// Sweep, question, machine and how many records there are; then the rows that `keep` keeps, and how to read
// them.
std::string results_text(const ReportInput& input, RowOrder order, const Screen& screen,
                         const std::function<bool(const Record&)>& keep);

}  // namespace hilbench
