// What the environments of records hold: machine, build and settings.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reports/view/view.hpp"

namespace hilbench {

// The values of each key ("host.cpu") in the environments of the records, each value once, in the order of
// the records; and such values as text.
using EnvironmentValues = std::map<std::string, std::vector<std::string>>;
EnvironmentValues environment_values(const View& view);
std::string values_text(const std::vector<std::string>& values);

}  // namespace hilbench
