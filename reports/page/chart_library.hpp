// The chart library that report.html inlines: found on the machine, no part of the tree.
#pragma once

#include <filesystem>
#include <string>

namespace hilbench {

struct ChartLibrary {
  std::string script;  // empty: the page goes without charts
  std::string note;    // why there is none, and what to install; empty where that was asked for
};

// Chart.js 3 or 4, minified. `file`: its path; "none": no charts wanted; empty: where packages put it. Throws
// UsageError where a file that was named cannot be read or is something else.
ChartLibrary find_chart_library(const std::filesystem::path& file);

}  // namespace hilbench
