// Vega, which draws the figures of report.html and the static ones. It is installed on the machine and not
// part of this tree.
#pragma once

#include <filesystem>
#include <string>

namespace hilbench {

struct ChartLibrary {
  std::string script;  // defines `vega`, with its licence before it; empty: no figures
  std::string note;    // why there is none, and what to install; empty if no figures were asked for
};

// Joins the files of Vega 5 to one script. `folder`: where they are; "none": no figures; empty: looks where
// packages install them. Throws UsageError if a given folder lacks one of them, or a file cannot be read.
ChartLibrary find_chart_library(const std::filesystem::path& folder);

}  // namespace hilbench
