// Dense attention on the tokens of a windowed case: another function, and another case of the same sweep.
#pragma once

#include <set>

#include "reports/view/view.hpp"

namespace hilbench {

// The case of `view` that is like `windowed` in all but its pattern: one branch that spans the sequence, with
// every position selected. Null if the sweep has none.
const CaseView* dense_case(const View& view, const Case& windowed);
// The dense cases of all windowed ones.
std::set<const CaseView*> dense_cases(const View& view);

}  // namespace hilbench
