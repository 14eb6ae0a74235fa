// Which counts the speedups of variants follow.
#pragma once

#include <string>

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// A row for each count that was read: how strongly the speedup of a variant over its reference goes with how
// many times as much the variant counts. Spearman's rank correlation (1904) over all pairs: -1 if more always
// means slower, 0 if the count says nothing. The strongest first.
Table followed_counts_table(const View& view);
// The strongest of those with enough pairs; "" if there is none.
std::string followed_count_sentence(const View& view);

}  // namespace hilbench
