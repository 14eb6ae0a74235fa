// What each command does once its options are parsed. Results go to standard output, the rest to standard
// error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/sweep/sweep.hpp"
#include "kernels/base/error.hpp"

namespace hilbench {

struct RunArguments {
  std::filesystem::path sweep;
  std::filesystem::path folder;  // empty: results/<sweep name>
  std::string filter;
  std::vector<std::string> axes;
  std::string device;                        // "", "cpu" or "cuda[:i]"
  std::optional<std::int64_t> memory_bytes;  // to plan with in place of the device's
  std::optional<double> budget_s;            // in place of the sweep's measure.budget_s
  std::optional<double> execution_limit_s;   // cases whose executions are estimated to be longer are skipped
  bool longest = false;                      // `plan` only
  bool fresh = false;
  bool dry_run = false;
  bool allow_external = false;
  std::filesystem::path dump;
  std::string profile;  // variant to run once for a profiler; empty: none
  std::string command;  // as typed
};
ExitCode run_command(const RunArguments& arguments);
ExitCode plan_command(const RunArguments& arguments);

struct ReportArguments {
  std::filesystem::path folder;
  std::filesystem::path output;  // empty: beside the store
  std::filesystem::path claims;  // empty: those of this build
  std::filesystem::path charts;  // empty: as packages install it
};
ExitCode report_command(const ReportArguments& arguments);

struct CompareArguments {
  std::filesystem::path folder_a, folder_b;
  std::string format = "text";   // or "markdown"
  std::filesystem::path output;  // folder for compare.html, .md and .csv; empty: none
  std::optional<double> fail_above_percent;
};
ExitCode compare_command(const CompareArguments& arguments);

struct ExportArguments {
  std::filesystem::path folder;
  std::string format;
  std::filesystem::path output;  // empty: standard output
};
ExitCode export_command(const ExportArguments& arguments);

struct OrderArguments {
  std::string name;  // NAME or NAME.PARAM
  std::int64_t length = 0;
  std::optional<std::int64_t> chunk, residue, seed;
  std::filesystem::path file;    // of order `file`
  std::filesystem::path output;  // .npy; empty: text on standard output
};
ExitCode order_command(const OrderArguments& arguments);

struct PredictArguments {
  std::filesystem::path subject;      // a folder of records, or a sweep file
  std::filesystem::path calibration;  // the folder of records, where `subject` is a sweep file
  std::vector<std::int64_t> fit_ranks = {1, 2};
  std::vector<std::int64_t> rings;  // to predict; empty: those of the sweep, or 2, 4, 8, 16
  std::vector<std::string> axes;    // of the sweep
  std::string filter;
  std::optional<std::int64_t> memory_bytes;  // of each rank's device
  std::string format = "text";
};
ExitCode predict_command(const PredictArguments& arguments);

ExitCode list_command(const std::string& topic);
ExitCode doctor_command();

}  // namespace hilbench
