// What an execution uses, of the whole device.
#pragma once

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// A row for each case whose energy is known: joules of an execution, a column a variant.
Table energy_table(const View& view);

}  // namespace hilbench
