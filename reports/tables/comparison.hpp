// Every record beside the reference of its case.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// One row for each record of `cases`: time, speedup, rate, permutation, error, memory.
Table comparison_table(std::span<const CaseView> cases);
// The verdict on a speedup in words: what one process leaves open and what was withheld included; "" where
// there is none to give.
std::string verdict_text(const Record& record);
// Speedup with the permutation paid once every `uses` executions.
std::optional<double> amortised_speedup(const Record& record, double uses);
std::optional<double> peak_fraction(const CaseView& where, const Record& record);

}  // namespace hilbench
