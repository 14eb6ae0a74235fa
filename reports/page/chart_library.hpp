// Chart.js, which report.html contains. It is installed on the machine and not part of this tree.
#pragma once

#include <filesystem>
#include <string>

namespace hilbench {

struct ChartLibrary {
  std::string script;  // empty: the page has no charts
  std::string note;    // why there is none, and what to install; empty if no charts were asked for
};

// Finds Chart.js 3 or 4, minified. `file`: its path; "none": no charts; empty: looks where packages install
// it. Throws UsageError if a given file cannot be read or is not Chart.js.
ChartLibrary find_chart_library(const std::filesystem::path& file);

}  // namespace hilbench
