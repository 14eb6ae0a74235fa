#include "reports/figures/series_names.hpp"

#include <fmt/format.h>

#include <set>
#include <string_view>

namespace hilbench {

Naming naming_of(const View& view) {
  std::set<std::string_view> kernels;
  std::set<Dtype> dtypes;
  std::set<PageSize> pages;
  for (const CaseView& of_case : view.cases) {
    dtypes.insert(of_case.work->dtype);
    pages.insert(of_case.work->pages);
    for (const Record* record : of_case.records)
      if (record->kind == ImplementationKind::kernel) kernels.insert(record->variant.kernel);
  }
  return {kernels.size() > 1, dtypes.size() > 1, pages.size() > 1};
}

std::string work_text(const Case& work, const Naming& naming) {
  return (naming.dtypes ? fmt::format(", {}", to_string(work.dtype)) : "") +
         (naming.pages ? fmt::format(", pages {}", to_string(work.pages)) : "");
}

std::string series_name(const Record& record, const Naming& naming) {
  const std::size_t slash = record.variant_id.find('/');
  const bool whole =
      naming.kernels || record.kind == ImplementationKind::baseline || slash == std::string::npos;
  return (whole ? record.variant_id : record.variant_id.substr(slash + 1)) + work_text(record.work, naming);
}

}  // namespace hilbench
