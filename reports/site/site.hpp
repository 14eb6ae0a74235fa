// `hilbench site`: all results below a folder as static pages that need no server.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "reports/figures/chart_library.hpp"
#include "reports/site/overview.hpp"
#include "reports/view/input.hpp"

namespace hilbench {

// Reads the results of one folder, with predictions.
using ReadResults = std::function<ReportInput(const std::filesystem::path&)>;

struct SiteInput {
  std::filesystem::path folder;  // as machine_folders() takes it
  std::filesystem::path output;  // absent, empty, or an earlier site, which is replaced
  std::string url;               // of the site once it is published; empty: previews name pictures relatively
  ChartLibrary charts;
  ReadResults read;
  // The page of "machine/sweep" begins, the `number`th of `all`; may be empty.
  std::function<void(const std::string& sweep, std::size_t number, std::size_t all)> begins = {};
};

struct SiteOutput {
  std::filesystem::path index;
  std::size_t machines = 0, sweeps = 0;
  std::vector<std::string> notes;  // what could not be made, and why
};

// Writes index.html, assets/, and for each machine a folder with its page, its findings, and a folder a
// sweep: page, figure.svg, figure.png and tables/*.csv. poster.svg is in the folder of the index. All links
// are relative. Throws UsageError or EnvironmentError if results cannot be read or the site cannot be
// written; `output` is then as it was.
SiteOutput write_site(const SiteInput& input);

// What the first page of a site is made of, from the results below `folder`. Throws as write_site() if they
// cannot be read.
std::vector<MachineOverview> overviews_below(const std::filesystem::path& folder, const ReadResults& read);

}  // namespace hilbench
