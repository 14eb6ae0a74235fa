// Layout counts and hardware counters, and why some could not be read.
#pragma once

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// One row for each record that has counts; no rows if none has.
Table locality_table(const View& view);
// Counters that could not be read, one row for each reason.
Table unavailable_table(const View& view);

}  // namespace hilbench
