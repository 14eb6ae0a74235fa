// `hilbench report`: makes tables, figures and a page from records.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "reports/view/input.hpp"

namespace hilbench {

struct ReportOutput {
  std::filesystem::path folder;
  std::vector<std::string> notes;  // what could not be made, and why ("no Vega: no figures ...")
};

// Writes report.html, report.md, tables/*.csv, figures/*.svg and .png into `folder`, which is created if
// needed: all of them, or none. Files of an earlier report there that this one lacks are removed, unless they
// were changed since. Throws UsageError or EnvironmentError if the folder cannot be written,
// UsageError if the claims file is wrong.
ReportOutput write_report(const ReportInput& input, const std::filesystem::path& folder);

}  // namespace hilbench
