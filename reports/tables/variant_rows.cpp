#include "reports/tables/variant_rows.hpp"

#include <algorithm>

namespace hilbench {

std::vector<VariantRow> variant_rows(std::span<const CaseView> cases) {
  std::vector<VariantRow> rows;
  for (const CaseView& of_case : cases)
    for (const Record* record : of_case.records) rows.push_back({&of_case, record});
  return rows;
}

bool any_steady(std::span<const CaseView> cases) {
  return std::any_of(cases.begin(), cases.end(), [](const CaseView& of_case) {
    return std::any_of(of_case.records.begin(), of_case.records.end(),
                       [](const Record* record) { return record->steady_s > 0; });
  });
}

Tone tone_of(Status status) {
  if (status == Status::ok) return Tone::plain;
  return status == Status::skipped ? Tone::muted : Tone::bad;
}

Tone tone_of(Verdict verdict) {
  if (verdict == Verdict::faster) return Tone::good;
  if (verdict == Verdict::slower) return Tone::bad;
  return verdict == Verdict::equivalent ? Tone::neutral : Tone::muted;
}

Cell text_cell(std::string text, Tone tone) {
  return {std::move(text), tone};
}

}  // namespace hilbench
