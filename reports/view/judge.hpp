// Speedups and verdicts of records, found from their samples. They are never stored: this function is the
// only one that makes them, for reports, comparisons, claims and exports.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "reports/records/record.hpp"

namespace hilbench {

// The variant that is the reference of each case. Records of schema 1 name it only if they have a speedup.
// Both names are parts of the records.
using ReferenceNames = std::map<std::string_view, std::string_view>;
ReferenceNames reference_names(const std::vector<Record>& records);

// Sets `speedup` of all records of a sweep, each against the reference of its case, and renews medians,
// intervals and rates. Records without paired times, that were not verified, or during whose timing another
// process used the device get no speedup.
//
// `faster` and `slower` of kernel variants hold for the whole family: all pairs of a case and a kernel
// variant of the sweep (Holm). Twins and baselines are not of the family and are judged by themselves. A
// variant that permutes tokens computes a different function.
void judge(std::vector<Record>& records);

}  // namespace hilbench
