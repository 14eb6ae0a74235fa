// Counters of layout and hardware, and why some could not be read.
#pragma once

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// Exact layout counts and hardware counters beside the time; empty where no record has any.
Table locality_table(const View& view);
// Counters that could not be read, each reason once.
Table unavailable_table(const View& view);

}  // namespace hilbench
