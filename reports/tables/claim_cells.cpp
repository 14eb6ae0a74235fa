#include "reports/tables/claim_cells.hpp"

#include <fmt/format.h>

#include <array>

#include "reports/view/format.hpp"

namespace hilbench {

Tone tone_of(ClaimVerdict verdict) {
  switch (verdict) {
    case ClaimVerdict::reproduced:
      return Tone::good;
    case ClaimVerdict::contradicted:
      return Tone::bad;
    case ClaimVerdict::excluded:
      return Tone::excluded;
    case ClaimVerdict::not_testable:
      return Tone::muted;
    default:
      return Tone::neutral;
  }
}

Cell shown_verdict(ClaimVerdict verdict, bool gain) {
  const std::string text(to_string(verdict));
  if (gain || (verdict != ClaimVerdict::reproduced && verdict != ClaimVerdict::no_gain))
    return {text, tone_of(verdict)};
  return {
      text + (verdict == ClaimVerdict::reproduced ? " (no gain was claimed)" : ", and not the claimed loss"),
      Tone::neutral};
}

std::string compared(const ClaimAnswer& answer) {
  constexpr std::array<std::string_view, 8> kNames = {
      "kernel time", "buffers", "lines of the layout", "memory", "bytes sent", "length", "length", "other"};
  if (answer.claim->test) return answer.claim->test->compares;
  for (const LevelAnswer& level : answer.levels)
    if (level.measured) return std::string(level.level->name) + " read misses";
  return std::string(kNames[static_cast<std::size_t>(answer.claim->quantity)]);
}

std::string_view verdict_word(std::string_view verdict) {
  constexpr std::string_view kSubject = "claim ";  // "6 claim excluded" is no sentence
  if (verdict.starts_with(kSubject)) verdict.remove_prefix(kSubject.size());
  return verdict;
}

std::string counted_verdict(std::size_t count, std::string_view verdict) {
  return fmt::format("{} {}", count, verdict_word(verdict));
}

std::string dtype_name(const ClaimAnswer& answer) {
  const bool over_cases = answer.claim->any_case || answer.claim->quantity == Quantity::break_even;
  const bool judged = answer.verdict != ClaimVerdict::not_testable;
  return answer.where != nullptr || (over_cases && judged) ? std::string(to_string(answer.dtype)) : "";
}

const Record* evidence_of(const ClaimAnswer& answer) {
  if (!answer.where) return nullptr;
  if (answer.record != nullptr) return answer.record;
  return answer.where->records.empty() ? nullptr : answer.where->records.front();
}

std::string evidence_address(const ClaimAnswer& answer) {
  const Record* record = evidence_of(answer);
  return record ? record_address(record->case_id, record->variant_id) : "#records";
}

std::string record_address(const ClaimAnswer& answer, const Record* ClaimRecords::*member) {
  if (!answer.where) return "";
  const Record* record = claim_records(*answer.where, answer.claim->compared).*member;
  return record ? record_address(record->case_id, record->variant_id) : "";
}

Cell ratio_cell(const std::optional<Measured>& measured) {
  return {data_text(measured ? std::optional(measured->ratio) : std::nullopt)};
}

Cell end_cell(const std::optional<Measured>& measured, double Interval::*end) {
  return {data_text(measured ? std::optional(measured->ci.*end) : std::nullopt)};
}

}  // namespace hilbench
