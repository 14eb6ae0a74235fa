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

// Throws UsageError or EnvironmentError if `folder` is not a folder and cannot be created.
void make_folder(const std::filesystem::path& folder);

// Writes report.html, report.md, tables/*.csv, figures/*.svg and .png into `folder`, which is created if
// needed. Throws UsageError if the folder cannot be written or the claims file is wrong.
ReportOutput write_report(const ReportInput& input, const std::filesystem::path& folder);

}  // namespace hilbench
