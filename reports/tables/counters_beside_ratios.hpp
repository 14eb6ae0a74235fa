// Ratios beside the counters that explain them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// The ratios of `cases` beside the counters that explain them; columns that nothing fills are left out. Rows
// of variants that no counter saw are left out too.
Table explained_table(std::span<const CaseView> cases);
// The columns of explained_table for one record: what a counter tells of its time, in one order for all.
struct CounterFigure {
  std::string_view key, title;
  std::optional<double> value;
};
std::vector<CounterFigure> counter_figures(const CaseView& where, const Record& record);
// The same of one case in words: hilbert, or else the first kernel variant, against its reference. Empty
// where no counter tells anything.
std::string explanation(const CaseView& of_case);

}  // namespace hilbench
