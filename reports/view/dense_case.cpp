#include "reports/view/dense_case.hpp"

#include <algorithm>

#include "kernels/case/windows.hpp"

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

std::set<const CaseView*> dense_cases(const View& view) {
  std::set<const CaseView*> found;
  for (const CaseView& of_case : view.cases)
    if (has_windows(*of_case.work))
      if (const CaseView* dense = dense_case(view, *of_case.work)) found.insert(dense);
  return found;
}

}  // namespace hilbench
