// `hilbench report`: stored records in, tables, figures and a page out. Reads records only.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "reports/view/input.hpp"

namespace hilbench {

struct ReportOutput {
  std::filesystem::path folder;
  std::vector<std::string> notes;  // what could not be made and why ("no gnuplot: figures left out; ...")
};

// Throws UsageError or EnvironmentError where `folder` is none and cannot become one.
void make_folder(const std::filesystem::path& folder);

// Writes report.html, report.md, tables/*.csv, figures/*.svg and .png into `folder` (created).
// Throws UsageError where the folder cannot be written or the claims file is wrong.
ReportOutput write_report(const ReportInput& input, const std::filesystem::path& folder);

}  // namespace hilbench
