// Records for other people's tools.
#pragma once

#include <ostream>
#include <span>
#include <string_view>
#include <vector>

#include "reports/records/record.hpp"

namespace hilbench {

// Names for --format, in the order of the help text.
std::span<const std::string_view> export_formats();
// Throws UsageError for an unknown format.
// - jsonl: one record a line (README, Files and formats)
// - csv: one record a row, parameters and results flat, RFC 4180
// - gbench: Google Benchmark JSON, one run per sample: its compare.py reads it
// - gbench-summary: Google Benchmark JSON, one row per case and variant (the median), no aggregate rows
// - bencher: Bencher Metric Format: CASE/VARIANT -> latency (ns), tflops, speedup, with lower and upper
// values
// - github: customSmallerIsBetter of github-action-benchmark: times in ns
// - github-bigger: customBiggerIsBetter of the same: speedups over the reference, and TFLOP/s
//
// All but the first two hold the records that are ok and timed, under the name CASE/VARIANT; cpu_time repeats
// real_time, because only the wall clock is read. In csv a list's members are parted by spaces and null is an
// empty field.
void export_records(std::string_view format, const std::vector<Record>& records, std::ostream& out);

}  // namespace hilbench
