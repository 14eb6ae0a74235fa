#include "reports/tables/claim_tables.hpp"

#include <fmt/format.h>

#include <string>

#include "reports/tables/claim_cells.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

using A = const ClaimAnswer&;
using Columns = std::vector<ColumnOf<ClaimAnswer>>;

std::string measured_text(const std::optional<Measured>& measured) {
  if (!measured) return "";
  if (measured->processes == 0 && measured->ci.low == measured->ci.high)
    return number_text(measured->ratio) + " (exact)";
  return ratio_text(measured->ratio, measured->ci);
}

std::string claimed_text(const ClaimRow& claim) {
  if (claim.claimed_range)
    return number_text(claim.claimed_range->low, 3) + " to " + number_text(claim.claimed_range->high, 3);
  return claim.claimed ? number_text(*claim.claimed, 3) : "";
}

Cell claim_verdict_cell(A a) {
  return {std::string(to_string(a.verdict)), tone_of(a.verdict)};
}

Cell verdict_name(const std::optional<Measured>& measured) {
  return {measured ? std::string(to_string(measured->verdict)) : ""};
}
// "0.998 [0.991, 1.004] against dilated/linear.gathered, equivalent within 1 %".
Cell control_text_cell(A a) {
  if (!a.against_control) return {};
  const Measured& measured = *a.against_control;
  return {fmt::format("{} against {}, {}", measured_text(measured), a.control_name,
                      verdict_words(measured.verdict, measured.processes, measured.margin)),
          Tone::muted};
}

ColumnOf<ClaimAnswer> claim_column() {
  return {{"claim", "claim"}, [](A a) { return Cell{a.claim->claim_id}; }};
}
ColumnOf<ClaimAnswer> compares_column() {
  return {{"compares", "compares"}, [](A a) { return Cell{compared(a)}; }};
}
// The case on one line; if the claim states no whole case, its configuration.
ColumnOf<ClaimAnswer> work_column() {
  return {{"work", "case (segment/dilation)", Align::wrapped}, [](A a) {
            if (a.where) return Cell{case_text(*a.where->work)};
            if (a.claim->any_case && a.measured && !a.claim->ring_size) return Cell{"all cases here"};
            const bool whole = a.claim->work && a.claim->device.empty();
            return Cell{whole ? case_text(*a.claim->work) : a.claim->configuration};
          }};
}
ColumnOf<ClaimAnswer> configuration_column() {
  return {{"configuration", "configuration"}, [](A a) { return Cell{a.claim->configuration}; }};
}
ColumnOf<ClaimAnswer> stated_column() {
  return {{"stated", "as stated"}, [](A a) { return Cell{a.claim->stated}; }};
}
ColumnOf<ClaimAnswer> claimed_column() {
  return {{"claimed", "claimed", Align::right}, [](A a) { return Cell{claimed_text(*a.claim)}; }};
}
ColumnOf<ClaimAnswer> provenance_column() {
  return {{"provenance", "obtained"}, [](A a) { return Cell{a.claim->provenance}; }};
}
ColumnOf<ClaimAnswer> case_column() {
  return {{"case", "case"}, [](A a) { return Cell{a.where ? a.where->case_id : ""}; }};
}
ColumnOf<ClaimAnswer> source_column() {
  return {{"source", "source"}, [](A a) { return Cell{a.claim->source}; }};
}

}  // namespace

Table claims_table(const std::vector<ClaimAnswer>& answers) {
  const Columns columns = {
      claim_column(),
      compares_column(),
      {{"metric", ""}, [](A a) { return Cell{a.claim->metric}; }},
      configuration_column(),
      stated_column(),
      provenance_column(),
      {{"claimed", ""}, [](A a) { return Cell{data_text(a.claim->claimed)}; }},
      {{"measured", ""}, [](A a) { return ratio_cell(a.measured); }},
      {{"measured_low", ""}, [](A a) { return end_cell(a.measured, &Interval::low); }},
      {{"measured_high", ""}, [](A a) { return end_cell(a.measured, &Interval::high); }},
      {{"verdict", ""}, claim_verdict_cell},
      {{"gain", ""}, [](A a) { return Cell{is_about_a_gain(a) ? "true" : "false"}; }},
      {{"with_permutation", ""}, [](A a) { return ratio_cell(a.with_permutation); }},
      {{"with_permutation_low", ""}, [](A a) { return end_cell(a.with_permutation, &Interval::low); }},
      {{"with_permutation_high", ""}, [](A a) { return end_cell(a.with_permutation, &Interval::high); }},
      {{"random", ""}, [](A a) { return ratio_cell(a.random); }},
      {{"random_low", ""}, [](A a) { return end_cell(a.random, &Interval::low); }},
      {{"random_high", ""}, [](A a) { return end_cell(a.random, &Interval::high); }},
      {{"against_random", ""}, [](A a) { return ratio_cell(a.against_random); }},
      {{"against_random_verdict", ""}, [](A a) { return verdict_name(a.against_random); }},
      {{"control", ""}, [](A a) { return Cell{a.control_name}; }},
      {{"against_control", ""}, [](A a) { return ratio_cell(a.against_control); }},
      {{"against_control_low", ""}, [](A a) { return end_cell(a.against_control, &Interval::low); }},
      {{"against_control_high", ""}, [](A a) { return end_cell(a.against_control, &Interval::high); }},
      {{"against_control_verdict", ""}, [](A a) { return verdict_name(a.against_control); }},
      {{"processes", ""}, [](A a) { return Cell{a.measured ? std::to_string(a.measured->processes) : ""}; }},
      {{"margin", ""},
       [](A a) { return Cell{data_text(a.measured ? std::optional(a.measured->margin) : std::nullopt)}; }},
      {{"dtype", ""}, [](A a) { return Cell{dtype_name(a)}; }},
      {{"other_dtype", ""}, [](A a) { return Cell{a.other_dtype ? "true" : "false"}; }},
      {{"tokens", ""}, [](A a) { return ratio_cell(a.beside); }},
      {{"tokens_low", ""}, [](A a) { return end_cell(a.beside, &Interval::low); }},
      {{"tokens_high", ""}, [](A a) { return end_cell(a.beside, &Interval::high); }},
      why_column<ClaimAnswer>(""),
      case_column(),
      source_column(),
      {{"note", ""}, [](A a) { return Cell{a.claim->note}; }},
  };
  return make_table<ClaimAnswer>("claims", "", columns, answers);
}

Table judged_claims_table(const std::vector<ClaimAnswer>& answers) {
  const Columns columns = {
      claim_column(),
      {{"measured", "measured [interval]", Align::right},
       [](A a) {
         return Cell{measured_text(a.measured), Tone::plain, evidence_address(a)};
       }},
      work_column(),
      compares_column(),
      claimed_column(),
      {{"verdict", "verdict"}, [](A a) { return shown_verdict(a.verdict, is_about_a_gain(a)); }},
      {{"random", "random order (control)", Align::right},
       [](A a) {
         return Cell{measured_text(a.random), Tone::muted, record_address(a, &ClaimRecords::random)};
       }},
      {{"against_control", "against the control", Align::wrapped}, control_text_cell},
      {{"with_permutation", "with one permutation", Align::right},
       [](A a) { return Cell{measured_text(a.with_permutation)}; }},
      {{"tokens", "@tokens (different function)", Align::right},
       [](A a) {
         return Cell{measured_text(a.beside), Tone::muted, record_address(a, &ClaimRecords::beside)};
       }},
      provenance_column(),
      why_column<ClaimAnswer>("basis"),
      stated_column(),
      configuration_column(),
      source_column(),
  };
  return make_table<ClaimAnswer>("claims-judged", "Rows judged with these records", columns,
                                 answers_where(answers, true));
}

Table untestable_claims_table(const std::vector<ClaimAnswer>& answers) {
  const Columns columns = {claim_column(),
                           work_column(),
                           compares_column(),
                           claimed_column(),
                           why_column<ClaimAnswer>("why"),
                           provenance_column(),
                           stated_column(),
                           configuration_column(),
                           source_column()};
  return make_table<ClaimAnswer>("claims-untestable", "", columns, answers_where(answers, false));
}

}  // namespace hilbench
