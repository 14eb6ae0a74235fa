// One function for each format of export.hpp. All write `records` to `out`.
#pragma once

#include <ostream>
#include <string_view>
#include <vector>

#include "reports/records/record.hpp"

namespace hilbench {

// Whether programs that compare variants with each other get the record: it is ok and timed. A twin is no
// variant, and injected work is no result.
bool compared_by_others(const Record& record);

// `hostname`: of the machine that wrote the records; empty: not known.
void export_csv(const std::vector<Record>& records, std::string_view hostname, std::ostream& out);
void export_csv_samples(const std::vector<Record>& records, std::ostream& out);

void export_gbench(const std::vector<Record>& records, std::ostream& out);
void export_latex(const std::vector<Record>& records, std::ostream& out);

void export_bencher(const std::vector<Record>& records, std::ostream& out);
void export_github(const std::vector<Record>& records, std::ostream& out);

}  // namespace hilbench
