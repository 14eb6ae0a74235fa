// What a step of a training costs: time, and what it holds, with and without dropout and recomputation.
#pragma once

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// One row for each record with gradients whose memory is planned and whose time is right.
Table training_table(const View& view);

}  // namespace hilbench
