#include "reports/view/dense_case.hpp"

#include <algorithm>

namespace hilbench {

const CaseView* dense_case(const View& view, const Case& windowed) {
  Case wanted = windowed;
  wanted.windows.clear();
  wanted.mask_blocks = {};
  wanted.edges = Edges::shift;
  wanted.pattern = {{windowed.sequence_length, 1}};
  const auto found = std::find_if(view.cases.begin(), view.cases.end(),
                                  [&](const CaseView& of_case) { return *of_case.work == wanted; });
  return found == view.cases.end() ? nullptr : &*found;
}

}  // namespace hilbench
