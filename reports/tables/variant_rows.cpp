#include "reports/tables/variant_rows.hpp"

#include "reports/records/stats.hpp"

namespace hilbench {

std::vector<VariantRow> variant_rows(std::span<const CaseView> cases) {
  std::vector<VariantRow> rows;
  for (const CaseView& of_case : cases)
    for (const Record* record : of_case.records) rows.push_back({&of_case, record});
  return rows;
}

bool sign_settled(const Record& record) {
  const std::size_t processes = record.time ? record.time->process_rounds.size() : 1;
  return sign_settled(record.speedup->ci, processes);
}

Tone tone_of(Status status) {
  if (status == Status::ok) return Tone::plain;
  return status == Status::skipped ? Tone::muted : Tone::bad;
}

Cell text_cell(std::string text, Tone tone) {
  return {std::move(text), tone};
}

}  // namespace hilbench
