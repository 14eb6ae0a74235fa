// The comparison of two runs as a table and as a document.
#pragma once

#include <string>
#include <vector>

#include "reports/document/document.hpp"
#include "reports/view/compared_runs.hpp"

namespace hilbench {

Table compare_table(const ComparedRuns& runs);  // one row for each pair
Table environment_differences_table(const ComparedRuns& runs);
Document compare_document(const ComparedRuns& runs, const std::vector<std::string>& gate_reasons);

}  // namespace hilbench
