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

// True if the sign of the speedup is settled by the processes that timed it. The record must have a speedup.
bool sign_settled(const Record& record);

Tone tone_of(Status status);
Cell text_cell(std::string text, Tone tone = Tone::plain);

}  // namespace hilbench
