// Results as rows of a terminal: `run` prints them as it goes, `show` those of a folder.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/records/record.hpp"
#include "reports/terminal/screen.hpp"

namespace hilbench {

// by_case: in the order of the store, under the id of each case. The others: best first, rows of all cases
// mixed, what has no such value last.
enum class RowOrder { by_case, time, ratio, rate, verdict, variant };
const std::vector<std::string>& row_order_names();  // "case", "time" ..., as RowOrder lists them

// Rows of judged records (reports/view/judge.hpp), none for twins: the variant, its time, the ratio to the
// reference with its 95 % interval, the verdict, and the rate. Names that are too long for the screen have a
// line of their own; so have reasons of records that are not ok. Refers to `records`.
using Rows = std::vector<const Record*>;
Rows rows_of(const std::vector<Record>& records);
std::string rows_text(Rows rows, RowOrder order, const Screen& screen);

// The same for the rows of one case, without its id.
std::string comparison_rows_text(const Rows& rows, const Screen& screen);

// How to read the ratios of these rows, on one line; "" if there are none.
std::string legend_text(const Rows& rows, const Screen& screen);

}  // namespace hilbench
