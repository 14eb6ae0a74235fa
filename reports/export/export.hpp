// Records in the formats of other tools.
#pragma once

#include <ostream>
#include <span>
#include <string_view>
#include <vector>

#include "reports/records/record.hpp"

namespace hilbench {

// Values of --format, in the order of the help text.
std::span<const std::string_view> export_formats();
// Writes the records. Throws UsageError if the format is unknown.
// - jsonl: one record per line (docs/formats.md)
// - csv: one record per row, parameters and results as columns, RFC 4180
// - csv-samples: one sample per row
// - latex: a table of the package booktabs
// - gbench: Google Benchmark JSON, one run per sample, for its compare.py
// - bencher: Bencher Metric Format, CASE/VARIANT -> latency (ns), tflops, speedup, with their intervals
// - github: customSmallerIsBetter of github-action-benchmark: times in ns
//
// All except jsonl and the two of csv hold only records that are ok and timed. In gbench, cpu_time repeats
// real_time, because only the wall clock is read. In csv, spaces separate the members of a list, null is an
// empty field, and a number with an interval has the digits that the interval supports. `hostname`: of the
// machine that wrote the records; empty: not known.
void export_records(std::string_view format, const std::vector<Record>& records, std::ostream& out,
                    std::string_view hostname = "");

}  // namespace hilbench
