#include "reports/tables/literature.hpp"

#include <fmt/format.h>

#include "reports/tables/claim_cells.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

using PaperColumns = std::vector<ColumnOf<PaperAnswer>>;

std::string paper_ratio_text(const std::optional<Measured>& measured) {
  return measured ? ratio_text(measured->ratio, measured->ci) : "";
}

Cell control_cell(const PaperAnswer& a) {
  if (!a.against_control) return {};
  const Measured& measured = *a.against_control;
  return {fmt::format("{} against {}, {}", paper_ratio_text(measured), a.claim->test->control,
                      verdict_words(measured.verdict, measured.processes, measured.margin)),
          Tone::muted};
}

PaperColumns about_the_claim() {
  return {
      {{"paper", "paper"}, [](const PaperAnswer& a) { return Cell{a.claim->paper}; }},
      {{"arxiv", "arXiv"}, [](const PaperAnswer& a) { return Cell{a.claim->arxiv}; }},
      {{"says", "what it says", Align::wrapped}, [](const PaperAnswer& a) { return Cell{a.claim->says}; }},
      {{"claimed", "claimed", Align::right}, [](const PaperAnswer& a) {
         return Cell{a.claim->claimed > 0 ? number_text(a.claim->claimed, 3) : ""};
       }}};
}

ColumnOf<PaperAnswer> compared_here_column() {
  return {{"compares", "what is compared here", Align::wrapped},
          [](const PaperAnswer& a) { return Cell{a.claim->test ? a.claim->test->compares : ""}; }};
}
ColumnOf<PaperAnswer> obtained_column() {
  return {{"obtained", "obtained", Align::wrapped},
          [](const PaperAnswer& a) { return Cell{a.claim->obtained}; }};
}

Table table_of(std::string name, std::string caption, const PaperColumns& more,
               const std::vector<PaperAnswer>& answers) {
  PaperColumns columns = about_the_claim();
  columns.insert(columns.end(), more.begin(), more.end());
  return make_table<PaperAnswer>(std::move(name), std::move(caption), columns, answers);
}

}  // namespace

Table literature_table(const std::vector<PaperAnswer>& answers) {
  return table_of(
      "literature", "",
      {compared_here_column(),
       {{"case", ""}, [](const PaperAnswer& a) { return Cell{a.where ? a.where->case_id : ""}; }},
       {{"measured", ""}, [](const PaperAnswer& a) { return ratio_cell(a.measured); }},
       {{"measured_low", ""}, [](const PaperAnswer& a) { return end_cell(a.measured, &Interval::low); }},
       {{"measured_high", ""}, [](const PaperAnswer& a) { return end_cell(a.measured, &Interval::high); }},
       {{"verdict", ""}, [](const PaperAnswer& a) { return Cell{std::string(to_string(a.verdict))}; }},
       {{"claim_excluded", ""},
        [](const PaperAnswer& a) { return Cell{a.excludes_claim ? "true" : "false"}; }},
       {{"with_permutation", ""}, [](const PaperAnswer& a) { return ratio_cell(a.with_permutation); }},
       {{"against_control", ""}, [](const PaperAnswer& a) { return ratio_cell(a.against_control); }},
       {{"processes", ""},
        [](const PaperAnswer& a) { return Cell{a.measured ? std::to_string(a.measured->processes) : ""}; }},
       why_column<PaperAnswer>(""),
       obtained_column(),
       {{"title", ""}, [](const PaperAnswer& a) { return Cell{a.claim->title}; }}},
      answers);
}

Table judged_papers_table(const std::vector<PaperAnswer>& answers) {
  return table_of("literature-judged", "Claims of papers that these records test",
                  {compared_here_column(),
                   {{"work", "case", Align::wrapped},
                    [](const PaperAnswer& a) { return Cell{a.where ? case_text(*a.where->work) : ""}; }},
                   {{"measured", "measured [interval]", Align::right},
                    [](const PaperAnswer& a) { return Cell{paper_ratio_text(a.measured)}; }},
                   {{"verdict", "verdict"},
                    [](const PaperAnswer& a) {
                      return shown_verdict(a.verdict, a.claim->claimed > 1, a.excludes_claim);
                    }},
                   {{"with_permutation", "with one permutation", Align::right},
                    [](const PaperAnswer& a) { return Cell{paper_ratio_text(a.with_permutation)}; }},
                   {{"against_control", "against the control", Align::wrapped}, control_cell},
                   why_column<PaperAnswer>("basis"),
                   obtained_column()},
                  answers_where(answers, true));
}

Table untestable_papers_table(const std::vector<PaperAnswer>& answers) {
  return table_of("literature-untestable", "Claims of papers that these records cannot test",
                  {why_column<PaperAnswer>("not testable here: why"), obtained_column()},
                  answers_where(answers, false));
}

}  // namespace hilbench
