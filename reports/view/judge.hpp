// Speedups and verdicts of records, found from their samples. They are never stored: this function is the
// only one that makes them, for reports, comparisons, claims and exports.
#pragma once

#include <vector>

#include "reports/records/record.hpp"

namespace hilbench {

// Sets `speedup` of all records of a sweep, each against the reference of its case, and renews medians,
// intervals and rates. Records without paired times, that were not verified, or during whose timing another
// process used the device get no speedup.
//
// `faster` and `slower` of kernel variants hold for the whole family: all pairs of a case and a kernel
// variant of the sweep (Holm). Twins and baselines are not of the family and are judged by themselves. A
// variant that permutes tokens computes a different function.
void judge(std::vector<Record>& records);

}  // namespace hilbench
