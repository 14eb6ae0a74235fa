// Cells that the tables of claims share.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/claims/answers.hpp"
#include "reports/claims/claim_records.hpp"
#include "reports/view/table.hpp"

namespace hilbench {

Tone tone_of(ClaimVerdict verdict);

// The verdict as shown. A reproduced claim that claimed no gain says so, because it is no success of Hilbert
// order. `gain`: is_about_a_gain().
Cell shown_verdict(ClaimVerdict verdict, bool gain);

// What the claim compares: "kernel time". For caches the level that decided, or the layout if
// none was counted.
std::string compared(const ClaimAnswer& answer);

// "excluded" of "claim excluded": the words of a verdict behind a count.
std::string_view verdict_word(std::string_view verdict);
// "6 excluded", "3 inconclusive".
std::string counted_verdict(std::size_t count, std::string_view verdict);

// The dtype that was measured. "" if nothing was judged, or records of several dtypes answer together.
std::string dtype_name(const ClaimAnswer& answer);

// The record that a judged answer is about: the variant of the claim, otherwise the first record of the case.
// Null if several cases answer together.
const Record* evidence_of(const ClaimAnswer& answer);
// Where a page shows it; the table of all records if several cases answer together.
std::string evidence_address(const ClaimAnswer& answer);

// Where a page shows the record that is `member` in the case of the answer; "" if there is none.
std::string record_address(const ClaimAnswer& answer, const Record* ClaimRecords::*member);

Cell ratio_cell(const std::optional<Measured>& measured);
Cell end_cell(const std::optional<Measured>& measured, double Interval::*end);

template <class Answer>
ColumnOf<Answer> why_column(const char* title) {
  return {{"why", title, Align::wrapped}, [](const Answer& answer) { return Cell{answer.why}; }};
}

// The answers that are judged, or the others.
template <class Answer>
std::vector<Answer> answers_where(const std::vector<Answer>& answers, bool judged) {
  std::vector<Answer> chosen;
  for (const Answer& answer : answers)
    if ((answer.verdict != ClaimVerdict::not_testable) == judged) chosen.push_back(answer);
  return chosen;
}

}  // namespace hilbench
