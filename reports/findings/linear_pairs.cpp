#include "reports/findings/linear_pairs.hpp"

#include <algorithm>

namespace hilbench {
namespace {

bool is_kernel(const Record& record) {
  return record.kind == ImplementationKind::kernel;
}

const Record* linear_of(const CaseView& of_case, const Record& ordered) {
  const auto found = std::find_if(of_case.records.begin(), of_case.records.end(), [&](const Record* record) {
    return is_kernel(*record) && record->kernel == ordered.kernel &&
           record->variant.kernel().order == "linear" &&
           record->variant.kernel().tiles == ordered.variant.kernel().tiles &&
           record->variant.kernel().traversal == ordered.variant.kernel().traversal;
  });
  return found == of_case.records.end() ? nullptr : *found;
}

}  // namespace

std::vector<LinearPair> linear_pairs(const View& view) {
  std::vector<LinearPair> pairs;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records) {
      if (!is_kernel(*record) || record->variant.kernel().order == "linear") continue;
      const Record* linear = linear_of(of_case, *record);
      if (linear == nullptr) continue;
      if (const auto ratio = time_ratio(*linear, *record))
        pairs.push_back({.where = &of_case, .linear = linear, .ordered = record, .ratio = *ratio});
    }
  return pairs;
}

}  // namespace hilbench
