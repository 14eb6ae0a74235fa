// Every variant over all cases.
#pragma once

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// One row for each kernel variant over all cases: how often faster, slower, undecided.
Table summary_table(const View& view);

}  // namespace hilbench
