#include "reports/tables/literature.hpp"

#include <fmt/format.h>

#include "reports/tables/claim_cells.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

using A = const PaperAnswer&;
using Columns = std::vector<ColumnOf<PaperAnswer>>;

std::string measured_text(const std::optional<Measured>& measured) {
  return measured ? ratio_text(measured->ratio, measured->ci) : "";
}

Cell control_cell(A a) {
  if (!a.against_control) return {};
  const Measured& measured = *a.against_control;
  return {fmt::format("{} against {}, {}", measured_text(measured), a.claim->test->control,
                      verdict_words(measured.verdict, measured.processes, measured.margin)),
          Tone::muted};
}

Columns about_the_claim() {
  return {{{"paper", "paper"}, [](A a) { return Cell{a.claim->paper}; }},
          {{"arxiv", "arXiv"}, [](A a) { return Cell{a.claim->arxiv}; }},
          {{"says", "what it says", Align::wrapped}, [](A a) { return Cell{a.claim->says}; }},
          {{"claimed", "claimed", Align::right},
           [](A a) { return Cell{a.claim->claimed > 0 ? number_text(a.claim->claimed, 3) : ""}; }}};
}

ColumnOf<PaperAnswer> compares_column() {
  return {{"compares", "what is compared here", Align::wrapped},
          [](A a) { return Cell{a.claim->test ? a.claim->test->compares : ""}; }};
}
ColumnOf<PaperAnswer> verdict_column() {
  return {{"verdict", "verdict"}, [](A a) {
            return Cell{std::string(to_string(a.verdict)), tone_of(a.verdict)};
          }};
}
ColumnOf<PaperAnswer> obtained_column() {
  return {{"obtained", "obtained", Align::wrapped}, [](A a) { return Cell{a.claim->obtained}; }};
}
ColumnOf<PaperAnswer> why_column(const char* title) {
  return {{"why", title, Align::wrapped}, [](A a) { return Cell{a.why}; }};
}

Table table_of(std::string name, std::string caption, const Columns& more,
               const std::vector<PaperAnswer>& answers) {
  Columns columns = about_the_claim();
  columns.insert(columns.end(), more.begin(), more.end());
  return make_table<PaperAnswer>(std::move(name), std::move(caption), columns, answers);
}

std::vector<PaperAnswer> answers_where(const std::vector<PaperAnswer>& answers, bool judged) {
  std::vector<PaperAnswer> chosen;
  for (A answer : answers)
    if ((answer.verdict != ClaimVerdict::not_testable) == judged) chosen.push_back(answer);
  return chosen;
}

}  // namespace

Table literature_table(const std::vector<PaperAnswer>& answers) {
  return table_of(
      "literature", "",
      {compares_column(),
       {{"case", ""}, [](A a) { return Cell{a.where ? a.where->case_id : ""}; }},
       {{"measured", ""}, [](A a) { return ratio_cell(a.measured); }},
       {{"measured_low", ""}, [](A a) { return end_cell(a.measured, &Interval::low); }},
       {{"measured_high", ""}, [](A a) { return end_cell(a.measured, &Interval::high); }},
       verdict_column(),
       {{"with_permutation", ""}, [](A a) { return ratio_cell(a.with_permutation); }},
       {{"against_control", ""}, [](A a) { return ratio_cell(a.against_control); }},
       {{"processes", ""}, [](A a) { return Cell{a.measured ? std::to_string(a.measured->processes) : ""}; }},
       why_column(""),
       obtained_column(),
       {{"title", ""}, [](A a) { return Cell{a.claim->title}; }}},
      answers);
}

Table judged_papers_table(const std::vector<PaperAnswer>& answers) {
  return table_of(
      "literature-judged", "Claims of papers that these records test",
      {compares_column(),
       {{"work", "case", Align::wrapped}, [](A a) { return Cell{a.where ? case_text(*a.where->work) : ""}; }},
       {{"measured", "measured [interval]", Align::right},
        [](A a) { return Cell{measured_text(a.measured)}; }},
       verdict_column(),
       {{"with_permutation", "with one permutation", Align::right},
        [](A a) { return Cell{measured_text(a.with_permutation)}; }},
       {{"against_control", "against the control", Align::wrapped}, control_cell},
       why_column("basis"),
       obtained_column()},
      answers_where(answers, true));
}

Table untestable_papers_table(const std::vector<PaperAnswer>& answers) {
  return table_of("literature-untestable", "Claims of papers that these records cannot test",
                  {why_column("not testable here: why"), obtained_column()}, answers_where(answers, false));
}

}  // namespace hilbench
