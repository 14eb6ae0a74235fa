// The slowdown of a variant of a stored run, by what its processes measured.
#pragma once

#include <vector>

#include "reports/records/record.hpp"
#include "reports/records/stats.hpp"

namespace hilbench {

// It has times that nobody disturbed.
bool timed(const Record& record);

// ln(time) of each process, the median over its rounds. `twin`, if there is one, measured the record's
// variant once more: the mean of both logarithms counts, which varies less. Both must be timed().
std::vector<double> log_times(const Record& record, const Record* twin = nullptr);

// ln(time / time of the reference) of each process, the median over its rounds. `twin`, if there is one, is
// that of the reference, and counts as in log_times(). Empty if their processes are not as many as those of
// `record`. All must be timed().
std::vector<double> log_ratios(const Record& record, const Record& reference, const Record* twin);

// The slowdown ln(candidate / baseline) against runs of a baseline. `after` and the values of `runs`: of each
// process, as log_times() or log_ratios() gives them; none is empty.
Mean slowdown_of(const std::vector<double>& after, const std::vector<std::vector<double>>& runs);

}  // namespace hilbench
