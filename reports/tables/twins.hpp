// Twins beside their references: how far two equal variants differ.
#pragma once

#include <string>

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// One row for each twin that was judged, those that differ most first.
Table twins_table(const View& view);
// How many of them differ, and by how much; empty if none was judged.
std::string twins_sentence(const View& view);
std::string twins_distances_sentence(const View& view);

}  // namespace hilbench
