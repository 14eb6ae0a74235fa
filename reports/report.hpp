// `hilbench report`: stored records in, tables, figures and a page out. Reads records only.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/records/record.hpp"

namespace hilbench {

// What a model fitted on some of the records says of a ring, measured among them or not.
struct RingForecast {
  Case work;  // ring_size: that of the forecast
  std::string variant_id;
  double ns = 0;
  Interval ci_ns;  // in which one new measurement is expected
  double sent_bytes = 0;
  std::optional<double> hidden;  // share of the exchange; none where nothing is exchanged
  bool fitted = false;           // on the record of this very ring, so that meeting it proves nothing
};

struct ReportInput {
  std::vector<Record> records;
  std::map<std::string, std::string> meta;  // of the store: sweep name, title, command, ...
  std::vector<RingForecast> forecasts;
  std::vector<std::string> forecast_notes;  // how well the model fits, or why there is none
  std::filesystem::path source;             // DIR as the user gave it
  std::filesystem::path claims_file;        // empty: the claims embedded in this build
  std::filesystem::path chart_library;      // find_chart_library()
};

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
