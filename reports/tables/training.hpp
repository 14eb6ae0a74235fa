// What a step of a training costs: time, and what it holds, with and without dropout and recomputation.
#pragma once

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// One row for each record with gradients whose memory is planned and whose time is right.
Table training_table(const View& view);

// The same variant of the same case; null: none was measured, or the record has no dropout.
const Record* without_dropout(const View& view, const Record& record);

}  // namespace hilbench
