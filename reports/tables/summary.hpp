// Every variant in all cases together.
#pragma once

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// One row for each variant: in how many cases it is faster, slower or neither.
Table summary_table(const View& view);

}  // namespace hilbench
