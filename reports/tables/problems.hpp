// Records that failed, were skipped or are invalid.
#pragma once

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// Every record that is not ok, with its reason.
Table problems_table(const View& view);

}  // namespace hilbench
