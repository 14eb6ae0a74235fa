// Machine, build and settings of the records.
#pragma once

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

Table environment_table(const View& view);

}  // namespace hilbench
