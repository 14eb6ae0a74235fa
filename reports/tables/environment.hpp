// Machine, build and settings of the records.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

Table environment_table(const View& view);
// What the records' environments hold under each key ("host.cpu"), each value once, in the order met; and
// such values as text.
using EnvironmentValues = std::map<std::string, std::vector<std::string>>;
EnvironmentValues environment_values(const View& view);
std::string values_text(const std::vector<std::string>& values);

}  // namespace hilbench
