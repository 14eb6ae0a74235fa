// Runs of one sweep over time, such as one for each commit, for programs that look for change points.
#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "reports/records/record.hpp"

namespace hilbench {

inline constexpr std::string_view kOtava = "otava";  // the value of --format

struct HistoryRun {
  std::string name;  // of its folder
  std::vector<Record> records;
};

// What every run has timed: only this can be followed.
struct History {
  std::vector<HistoryRun> runs;      // the earliest first
  std::vector<std::string> metrics;  // CASE/VARIANT
  std::vector<std::string> notes;    // what was left out, and what else changed between the runs
};

// Throws UsageError if the runs are of several sweeps, one has no time of measurement, or no variant was
// timed in all of them.
History history_of(std::vector<HistoryRun> runs);

// The CSV file that Apache Otava (once hunter) reads for a test of type csv: a row a run with `time`, `run`,
// `commit`, and a column CASE/VARIANT with the median time in ns.
void export_otava(const History& history, std::ostream& out);
// The configuration that Otava needs for `csv`: a test `hilbench` with every metric; less time is better.
void export_otava_config(const History& history, const std::filesystem::path& csv, std::ostream& out);

}  // namespace hilbench
