// Tables with a row for each record: rows, and what their cells share.
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

// Whether the processes that timed a record with a speedup settle its sign.
bool sign_settled(const Record& record);

Tone tone_of(Status status);
Cell text_cell(std::string text, Tone tone = Tone::plain);

}  // namespace hilbench
