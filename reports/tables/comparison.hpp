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

}  // namespace hilbench
