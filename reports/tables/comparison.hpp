// Every record compared with the reference of its case.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// One row for each record of `cases`: time, speedup, rate, permutation, error, memory.
Table comparison_table(std::span<const CaseView> cases);
// The verdict on a speedup in words. It says if the sign is not settled or the verdict is withheld; "" if
// there is no verdict.
std::string verdict_text(const Record& record);
// Speedup if one permutation serves `uses` executions.
std::optional<double> amortised_speedup(const Record& record, double uses);
std::optional<double> peak_fraction(const CaseView& where, const Record& record);
// Whether the share is more than an honest peak allows: 105 %.
bool is_above_peak(const CaseView& where, const Record& record);
// "81.2 %"; if it is above the peak, it says why. "" if no peak judges the record.
std::string peak_share_text(const CaseView& where, const Record& record);
// The rate of the record. Of `peak` also the one that judges the case, if it is another.
std::string rate_of_record(const CaseView& where, const Record& record);

}  // namespace hilbench
