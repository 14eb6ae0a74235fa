// Tables with one row for each record: rows, and cells that several tables use.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

struct VariantRow {
  const CaseView* where = nullptr;
  const Record* record = nullptr;
};
std::vector<VariantRow> variant_rows(std::span<const CaseView> cases);

bool any_steady(std::span<const CaseView> cases);  // some record has steady samples

Tone tone_of(Status status);
Tone tone_of(Verdict verdict);
Cell text_cell(std::string text, Tone tone = Tone::plain);

}  // namespace hilbench
