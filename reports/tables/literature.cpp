#include "reports/tables/literature.hpp"

#include <fmt/format.h>

#include "reports/tables/claim_cells.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

using A = const ClaimAnswer&;
using Columns = std::vector<ColumnOf<ClaimAnswer>>;

std::string paper_ratio_text(const std::optional<Measured>& measured) {
  return measured ? ratio_text(measured->ratio, measured->ci) : "";
}

Cell control_cell(A a) {
  if (!a.against_control) return {};
  const Measured& measured = *a.against_control;
  return {fmt::format("{} against {}, {}", paper_ratio_text(measured), a.control_name,
                      verdict_words(measured.verdict, measured.processes, measured.margin)),
          Tone::muted};
}

Columns about_the_claim() {
  return {{{"paper", "paper"}, [](A a) { return Cell{a.claim->claim_id}; }},
          {{"arxiv", "arXiv"}, [](A a) { return Cell{a.claim->arxiv}; }},
          {{"says", "what it says", Align::wrapped}, [](A a) { return Cell{a.claim->says}; }},
          {{"claimed", "claimed", Align::right},
           [](A a) { return Cell{a.claim->claimed ? number_text(*a.claim->claimed, 3) : ""}; }}};
}

ColumnOf<ClaimAnswer> compared_here_column() {
  return {{"compares", "what is compared here", Align::wrapped},
          [](A a) { return Cell{a.claim->test ? a.claim->test->compares : ""}; }};
}
ColumnOf<ClaimAnswer> obtained_column() {
  return {{"obtained", "obtained", Align::wrapped},
          [](A a) { return Cell{a.claim->provenance + (a.claim->how.empty() ? "" : ", " + a.claim->how)}; }};
}

Table table_of(std::string name, std::string caption, const Columns& more,
               const std::vector<ClaimAnswer>& answers) {
  Columns columns = about_the_claim();
  columns.insert(columns.end(), more.begin(), more.end());
  return make_table<ClaimAnswer>(std::move(name), std::move(caption), columns, answers);
}

}  // namespace

Table literature_table(const std::vector<ClaimAnswer>& answers) {
  return table_of(
      "literature", "",
      {compared_here_column(),
       {{"case", ""}, [](A a) { return Cell{a.where ? a.where->case_id : ""}; }},
       {{"measured", ""}, [](A a) { return ratio_cell(a.measured); }},
       {{"measured_low", ""}, [](A a) { return end_cell(a.measured, &Interval::low); }},
       {{"measured_high", ""}, [](A a) { return end_cell(a.measured, &Interval::high); }},
       {{"verdict", ""}, [](A a) { return Cell{std::string(to_string(a.verdict))}; }},
       {{"with_permutation", ""}, [](A a) { return ratio_cell(a.with_permutation); }},
       {{"against_control", ""}, [](A a) { return ratio_cell(a.against_control); }},
       {{"processes", ""}, [](A a) { return Cell{a.measured ? std::to_string(a.measured->processes) : ""}; }},
       why_column<ClaimAnswer>(""),
       obtained_column(),
       {{"title", ""}, [](A a) { return Cell{a.claim->title}; }}},
      answers);
}

Table judged_papers_table(const std::vector<ClaimAnswer>& answers) {
  return table_of(
      "literature-judged", "Claims of papers that these records test",
      {compared_here_column(),
       {{"work", "case", Align::wrapped}, [](A a) { return Cell{a.where ? case_text(*a.where->work) : ""}; }},
       {{"measured", "measured [interval]", Align::right},
        [](A a) { return Cell{paper_ratio_text(a.measured)}; }},
       {{"verdict", "verdict"}, [](A a) { return shown_verdict(a.verdict, is_about_a_gain(a)); }},
       {{"with_permutation", "with one permutation", Align::right},
        [](A a) { return Cell{paper_ratio_text(a.with_permutation)}; }},
       {{"against_control", "against the control", Align::wrapped}, control_cell},
       why_column<ClaimAnswer>("basis"),
       obtained_column()},
      answers_where(answers, true));
}

Table untestable_papers_table(const std::vector<ClaimAnswer>& answers) {
  return table_of("literature-untestable", "Claims of papers that these records cannot test",
                  {why_column<ClaimAnswer>("not testable here: why"), obtained_column()},
                  answers_where(answers, false));
}

}  // namespace hilbench
