// Speedups with the counters that explain them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// One row for each variant that was counted: its speedup and its counters. Columns without any value
// are left out.
Table explained_table(std::span<const CaseView> cases);
// A column of explained_table for one record; `value` is empty if it was not counted.
struct CounterFigure {
  std::string_view key, title;
  std::optional<double> value;
};
std::vector<CounterFigure> counter_figures(const CaseView& where, const Record& record);
// One case in words: the counters of hilbert, or of the first other kernel variant, against its reference.
// Empty if nothing was counted.
std::string explanation(const CaseView& of_case);

}  // namespace hilbench
